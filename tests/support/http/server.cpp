#include "support/http/server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace feedline::test {
namespace {

/// Reads a request's head. @param rest Bytes that came with the one before. @return Nothing at the
/// connection's end.
std::optional<http_request> read_request(int connection, std::string& rest) {
  std::size_t end = 0;
  while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
    char buffer[4096];  // NOLINT(modernize-avoid-c-arrays)
    const ssize_t got = ::recv(connection, buffer, sizeof(buffer), 0);
    if (got <= 0) return {};
    rest.append(buffer, static_cast<std::size_t>(got));
  }
  std::string_view head = std::string_view{rest}.substr(0, end + 2);
  http_request request;
  for (bool is_first = true; !head.empty(); is_first = false) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size() + 2);
    if (is_first) {
      const std::size_t space = line.find(' ');
      request.method = std::string{line.substr(0, space)};
      request.path = std::string{line.substr(space + 1, line.rfind(' ') - space - 1)};
      continue;
    }
    const std::size_t colon = line.find(": ");
    std::string name{line.substr(0, colon)};
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[name] = std::string{line.substr(colon + 2)};
  }
  rest.erase(0, end + 4);
  if (const std::string length = request.header("content-length"); !length.empty()) {
    const std::size_t bytes = std::stoul(length);
    while (rest.size() < bytes) {
      char buffer[4096];  // NOLINT(modernize-avoid-c-arrays)
      const ssize_t got = ::recv(connection, buffer, sizeof(buffer), 0);
      if (got <= 0) return {};
      rest.append(buffer, static_cast<std::size_t>(got));
    }
    request.body = rest.substr(0, bytes);
    rest.erase(0, bytes);
  }
  return request;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

/// @return The number of bytes that were sent; less than all if the connection ended.
std::size_t send_all(int connection, std::span<const std::byte> bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> http_request::range() const {
  const std::string text = header("range");
  const std::size_t dash = text.find('-');
  if (!text.starts_with("bytes=") || dash == std::string::npos) return {};
  return std::pair{std::stoull(text.substr(6)), std::stoull(text.substr(dash + 1))};
}

http_fault http_fault::status(int number, const std::string& headers, const std::string& body) {
  return {kind::answer, "HTTP/1.1 " + std::to_string(number) + " Scripted\r\n" + headers +
                            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

http_server::http_server() : listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  if (::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listening_, 1024) != 0 ||
      ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"a server on 127.0.0.1 cannot be started"};
  port_ = ntohs(at.sin_port);
  accepting_ = std::thread{[this] { accept_all(); }};
}

http_server::~http_server() {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
    ::shutdown(listening_, SHUT_RDWR);
    for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
    gate_.notify_all();
  }
  accepting_.join();
  for (std::thread& each : threads_) each.join();
  ::close(listening_);
}

void http_server::put(const std::string& path, std::vector<std::byte> bytes,
                      const std::string& etag) {
  const std::lock_guard lock{mutex_};
  objects_[path] = std::make_shared<const object>(object{std::move(bytes), etag});
}

void http_server::put(const std::string& path, std::vector<std::byte> bytes) {
  static std::atomic<int> last{0};
  put(path, std::move(bytes), "\"v" + std::to_string(++last) + "\"");
}

void http_server::remove(const std::string& path) {
  const std::lock_guard lock{mutex_};
  objects_.erase(path);
}

void http_server::set_script(script does) {
  const std::lock_guard lock{mutex_};
  script_ = std::move(does);
}

void http_server::open_gate() {
  const std::lock_guard lock{mutex_};
  is_open_ = true;
  gate_.notify_all();
}

std::vector<http_request> http_server::take_requests() {
  const std::lock_guard lock{mutex_};
  return std::exchange(requests_, {});
}

void http_server::accept_all() {
  for (;;) {
    const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock{mutex_};
    if (is_ending_) {
      if (connection >= 0) ::close(connection);
      return;
    }
    if (connection < 0) continue;
    const int on = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ++connections_;
    open_.insert(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void http_server::serve(int connection) {
  std::string rest;
  while (const auto request = read_request(connection, rest)) {
    int seen = most_at_once_.load();
    const int now = ++at_once_;
    while (seen < now && !most_at_once_.compare_exchange_weak(seen, now)) {
    }
    {
      const std::lock_guard lock{mutex_};
      requests_.push_back(*request);
    }
    if (const auto latency = latency_us_.load(); latency != 0)
      std::this_thread::sleep_for(std::chrono::microseconds{latency});
    const bool goes_on = answer(connection, *request);
    --at_once_;
    if (!goes_on) break;
  }
  const std::lock_guard lock{mutex_};
  open_.erase(connection);
  ::close(connection);
}

bool http_server::answer(int connection, const http_request& request) {
  using kind = http_fault::kind;
  object_ptr found;
  script does;
  {
    const std::lock_guard lock{mutex_};
    does = script_;
    const auto at = objects_.find(request.path.substr(0, request.path.find('?')));
    if (at != objects_.end()) found = at->second;
  }
  const http_fault fault = does ? does(request) : http_fault{};
  if (fault.does == kind::close) return false;
  if (fault.does == kind::answer) return send_text(connection, fault.text);
  if (!found) return send_text(connection, http_fault::status(404).text);
  if (const std::string match = request.header("if-match"); !match.empty() && match != found->etag)
    return send_text(connection, http_fault::status(412).text);
  const std::uint64_t size = found->bytes.size();
  const auto asked = request.range();
  const auto [first_asked, last_asked] = asked.value_or(std::pair<std::uint64_t, std::uint64_t>{});
  std::string head = "HTTP/1.1 200 OK\r\n";
  std::uint64_t begin = 0;
  std::uint64_t end = size;
  if (asked && fault.does != kind::ignore_range) {
    if (first_asked >= size)
      return send_text(
          connection,
          http_fault::status(416, "Content-Range: bytes */" + std::to_string(size) + "\r\n").text);
    const std::uint64_t shift = fault.does == kind::other_range ? 1 : 0;
    begin = first_asked + shift;
    end = std::min(last_asked + 1 + shift + (fault.does == kind::longer ? 1 : 0), size);
    head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(begin) + "-" +
           std::to_string(end - 1) + "/" + std::to_string(size) + "\r\n";
  }
  std::string others = "Content-Length: " + std::to_string(end - begin) + "\r\n";
  if (!found->etag.empty()) others += "ETag: " + found->etag + "\r\n";
  if (fault.does == kind::headers) others = fault.text;
  if (!send_text(connection, head + others + "\r\n")) return false;
  const auto body = std::span{found->bytes}.subspan(begin, end - begin);
  const bool is_cut = fault.does == kind::reset || fault.does == kind::cut ||
                      fault.does == kind::stall || fault.does == kind::drip;
  if (!is_cut) return send_body(connection, body);
  const auto first = body.first(std::min<std::size_t>(fault.bytes, body.size()));
  if (!send_body(connection, first)) return false;
  if (fault.does == kind::stall) {
    std::unique_lock lock{mutex_};
    gate_.wait(lock, [this] { return is_open_ || is_ending_; });
    lock.unlock();
    return send_body(connection, body.subspan(first.size()));
  }
  for (auto left = body.subspan(first.size()); fault.does == kind::drip && !left.empty();
       left = left.subspan(1)) {
    if (!send_body(connection, left.first(1))) return false;
    std::unique_lock lock{mutex_};
    gate_.wait_for(lock, std::chrono::milliseconds{5}, [this] { return is_open_ || is_ending_; });
  }
  if (fault.does == kind::reset) {
    const linger at_once{1, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  return false;
}

/// Counts before it sends: a client that has the bytes finds them counted.
bool http_server::send_body(int connection, std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  const std::size_t sent = send_all(connection, bytes);
  bytes_ -= bytes.size() - sent;
  return sent == bytes.size();
}

bool http_server::send_text(int connection, const std::string& text) {
  return send_all(connection, bytes_of(text)) == text.size();
}

}  // namespace feedline::test
