#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::test {

/// A request as it came.
struct http_request {
  std::string method;
  std::string path;                            ///< with its query
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string{} : found->second;
  }
  /// First and last byte of a Range header.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> range() const;
};

/// A fault that a server shows instead of answering a request well.
struct http_fault {
  enum class kind : std::uint8_t {
    none,
    answer,        ///< answers with `text`, which is status line, headers and body
    reset,         ///< sends headers and `bytes` bytes of the body, and resets the connection
    cut,           ///< the same, and ends the connection
    stall,         ///< the same, and sends no more until `http_server::open_gate`
    drip,          ///< the same, and then a byte each 5 ms
    ignore_range,  ///< sends the whole object with status 200
    longer,        ///< one byte more than asked for, and headers that agree
    other_range,   ///< the bytes after those that were asked for, and says so
    close,         ///< ends the connection without an answer
    headers,       ///< answers well, with the lines of `text` instead of headers of these names
  };
  kind does = kind::none;
  std::string text = {};
  std::uint64_t bytes = 0;

  /// An answer without a body. @param headers Lines that end in "\r\n".
  [[nodiscard]] static http_fault status(int number, const std::string& headers = {},
                                         const std::string& body = {});
};

/// A web server on the loopback device that serves objects from memory, in ranges, and counts. A
/// script may make it do wrong. A thread for each connection.
class http_server {
 public:
  /// Called for each request, by its connection's thread.
  using script = std::function<http_fault(const http_request&)>;

  http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();

  /// @param path Begins with '/'. @param etag Empty: none is sent.
  void put(const std::string& path, std::vector<std::byte> bytes, const std::string& etag);
  void put(const std::string& path, std::vector<std::byte> bytes);
  void remove(const std::string& path);
  void set_script(script does);
  /// Each answer begins this much later.
  void set_latency(std::chrono::microseconds latency) { latency_us_ = latency.count(); }
  /// Requests that stall are answered, and none stalls any more.
  void open_gate();

  [[nodiscard]] std::string address(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] int port() const noexcept { return port_; }

  /// All requests so far, and from now on none.
  [[nodiscard]] std::vector<http_request> take_requests();
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_.load(); }
  [[nodiscard]] std::uint64_t body_bytes() const noexcept { return bytes_.load(); }
  /// The most requests that were answered at once.
  [[nodiscard]] int most_at_once() const noexcept { return most_at_once_.load(); }

 private:
  struct object {
    std::vector<std::byte> bytes;
    std::string etag;
  };
  using object_ptr = std::shared_ptr<const object>;

  void accept_all();
  void serve(int connection);
  [[nodiscard]] bool answer(int connection, const http_request& request);
  /// @return False: the connection ended. These are all that `body_bytes` counts.
  [[nodiscard]] bool send_body(int connection, std::span<const std::byte> bytes);
  [[nodiscard]] bool send_text(int connection, const std::string& text);

  int listening_ = -1;
  int port_ = 0;
  std::thread accepting_;
  std::mutex mutex_;
  std::condition_variable gate_;
  bool is_open_ = false;
  bool is_ending_ = false;
  std::set<int> open_;
  std::vector<std::thread> threads_;
  std::map<std::string, object_ptr> objects_;
  script script_;
  std::vector<http_request> requests_;
  std::atomic<std::int64_t> latency_us_{0};
  std::atomic<std::uint64_t> connections_{0}, bytes_{0};
  std::atomic<int> at_once_{0}, most_at_once_{0};
};

}  // namespace feedline::test
