#pragma once

#include "remote/direct/connection_room.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <curl/curl.h>

namespace feedline::detail {

/// The connections of a thread, and the requests on them: libcurl's multi handles on an epoll.
/// libcurl looks through all connections of a multi handle for one that is free, so there are
/// several handles with some connections each. One thread.
class connection_groups {
 public:
  using clock = std::chrono::steady_clock;

  /// @param epoll, room Borrowed.
  connection_groups(int epoll, connection_room& room)
      : epoll_{epoll}, room_{room}, sockets_(usual_sockets) {}
  connection_groups(const connection_groups&) = delete;
  connection_groups& operator=(const connection_groups&) = delete;
  ~connection_groups() = default;

  /// Begins a request. @param easy Has `on_open`, `on_close` and this object for its sockets.
  /// @return The number of its group. @throws std::bad_alloc
  [[nodiscard]] std::size_t begin(CURL* easy);
  /// Takes a request out, whether it has ended or not.
  void end(std::size_t number, CURL* easy) noexcept;

  /// @param socket One that epoll told of. @param events Events that epoll told.
  void on_event(int socket, std::uint32_t events);
  void on_time(clock::time_point now);
  /// When `on_time` is to be called; the maximum if it need not.
  [[nodiscard]] clock::time_point next_time() const noexcept;
  /// A request that ended since it was asked last; null if there is none.
  [[nodiscard]] const CURLMsg* next_ended() noexcept;

  /// Closes all connections, while there are no requests.
  void clear() noexcept { groups_.clear(); }
  /// Closes the connections of groups without requests.
  void close_idle() noexcept;
  /// CURLOPT_SOCKOPTFUNCTION. @param self The `connection_groups`.
  static int on_open(void* self, curl_socket_t socket, curlsocktype purpose);
  /// CURLOPT_CLOSESOCKETFUNCTION. @param self The `connection_groups`.
  static int on_close(void* self, curl_socket_t socket);

 private:
  static constexpr std::size_t usual_sockets = 1024;

  struct multi_end {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
  };
  struct group {
    connection_groups* owner = nullptr;
    std::unique_ptr<CURLM, multi_end> multi = nullptr;   ///< null: it has no connections
    clock::time_point timer = clock::time_point::max();  ///< when libcurl wants to be called
    int running = 0;                                     ///< requests
  };
  /// A socket, by the number of its descriptor.
  struct watched {
    group* by = nullptr;  ///< null: epoll does not know it
    std::uint32_t events = 0;
    bool is_wanted = false;  ///< libcurl waits for it; else it is idle
    /// A connection, whose end `on_close` tells. libcurl closes others, such as those by which
    /// its threads tell that a name was found, and another one may get their number at once.
    bool is_connection = false;
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* of, void* known);
  static int on_timer(CURLM* multi, long ms, void* of);

  [[nodiscard]] std::size_t free_group();
  static void open(group& it);
  void watch(curl_socket_t socket, group& by, int what);
  [[nodiscard]] watched& at(curl_socket_t socket);
  void forget(int socket) noexcept;

  const int epoll_;
  connection_room& room_;
  std::vector<watched> sockets_;  ///< one for each number of a descriptor
  std::vector<std::unique_ptr<group>> groups_;
};

}  // namespace feedline::detail
