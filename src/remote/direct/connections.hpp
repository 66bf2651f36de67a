#pragma once

#include "remote/direct/connection_room.hpp"
#include "remote/direct/receiver.hpp"
#include "remote/direct/servers.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A thread's connections to servers that are asked without TLS. The bytes of an answer go from the
/// kernel straight to where they are wanted; libcurl would receive them into a buffer of its own,
/// and each would be copied once more.
///
/// Only plain answers are understood: HTTP/1.1, a head of a few kilobytes, and a body of known
/// length. Whatever else comes is libcurl's to ask for again, and so is the next try of a
/// request that failed. One thread.
class direct_connections {
 public:
  /// @param epoll, servers, room Borrowed.
  direct_connections(int epoll, direct_servers& servers, connection_room& room)
      : epoll_{epoll}, servers_{servers}, room_{room} {}
  direct_connections(const direct_connections&) = delete;
  direct_connections& operator=(const direct_connections&) = delete;
  ~direct_connections() { clear(); }

  /// Begins a request. @param head Its lines, whole. @param by Borrowed until its end.
  /// @return The socket; nothing if there is no connection. @throws std::bad_alloc
  [[nodiscard]] std::optional<int> begin(const direct_address& to, std::string head,
                                         direct_receiver& by);
  /// Takes a request out. Its connection is kept if the answer is whole. A server to which none was
  /// made by then is libcurl's to reach again.
  void end(int socket) noexcept;

  /// @return False: the socket belongs to other code.
  [[nodiscard]] bool on_event(int socket) noexcept;
  /// Rises from request to request; 0: the socket is idle, or belongs to other code.
  [[nodiscard]] std::uint64_t turn_of(int socket) const noexcept {
    const auto number = static_cast<std::size_t>(socket);
    return number < by_socket_.size() && by_socket_[number] ? by_socket_[number]->turn : 0;
  }

  /// How a request ended.
  enum class outcome : std::uint8_t {
    whole,        ///< its head and body came
    judged,       ///< `take_head` said fault
    unfit,        ///< `take_head` said unfit, or the head is of a form that libcurl understands
    was_closed,   ///< the server had closed the connection before the request: make it again
    unreachable,  ///< no connection could be made
    no_answer,    ///< the server closed the connection instead of answering
    ended_early,  ///< and before the body's end
    broke,        ///< the connection was reset
    no_http,      ///< the bytes are no head of an answer
    no_memory,    ///< for the head
  };
  struct ended {
    direct_receiver* by;
    outcome how;
    std::string_view unfit_as = {};  ///< why, if the server was not unfit before
  };
  /// A request that ended since it was asked last.
  [[nodiscard]] std::optional<ended> next_ended() noexcept;

  /// Whether a request needs no new connection.
  [[nodiscard]] bool has_idle(std::string_view server) const noexcept;
  void close_idle() noexcept;
  /// Closes all connections, while there are no requests.
  void clear() noexcept;

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t head_part = std::size_t{2} << 10;

  struct connection {
    int socket = -1;
    std::string server;
    direct_receiver* by = nullptr;  ///< null: idle
    std::string out = {};           ///< bytes that are to be sent
    std::string head = {};          ///< the part that came, if it comes in several
    std::uint64_t turn = 0;         ///< number of the request
    bool is_connected = false;
    bool was_used = false;  ///< for a request before this one
    bool has_head = false;
    bool is_kept = true;  ///< after this answer
    bool has_ended = false;
    bool waits_to_send = false;
    clock::time_point idle_since = {};
  };

  [[nodiscard]] connection* idle_one(std::string_view server) noexcept;
  [[nodiscard]] connection* connect(std::string_view server);
  void send(connection& it);
  void proceed(connection& it);
  void receive(connection& it);
  [[nodiscard]] static bool is_again(int error) noexcept;
  /// Whether nothing has come: bytes that no request asked for would be taken for its answer.
  [[nodiscard]] static bool is_quiet(int socket) noexcept;
  [[nodiscard]] bool receive_head(connection& it);
  [[nodiscard]] bool take_head(connection& it, std::string_view part);
  [[nodiscard]] bool receive_body(connection& it);
  void finish(connection& it, outcome how, std::string_view unfit_as = {}) noexcept;
  void watch(connection& it, bool to_send, bool is_new);
  void close(connection& it) noexcept;

  const int epoll_;
  direct_servers& servers_;
  connection_room& room_;
  std::array<char, head_part> part_ = {};
  std::vector<std::unique_ptr<connection>> by_socket_;
  std::map<std::string, std::vector<int>, std::less<>> idle_;  ///< sockets, the last used one last
  std::vector<ended> ended_;                                   ///< has room for all connections
  std::uint64_t begun_ = 0;                                    ///< requests so far
};

}  // namespace feedline::detail
