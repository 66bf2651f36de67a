#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::python {

/// One end of a connection between two processes that carries whole messages, and descriptors. It
/// ends when one of the processes does. Children have none: a child of fork closes its copy, and
/// other programs do not get it.
///
/// One thread at a time, except `shut`.
class channel {
 public:
  enum class outcome { message, ended, late, interrupted };

  struct received {
    outcome what;
    std::size_t bytes = 0;
    int descriptor = -1;  ///< the one that came with the message, or -1
  };

  /// Takes ownership of a socket.
  explicit channel(int socket);
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  [[nodiscard]] int socket() const noexcept { return socket_; }

  /// @param descriptor Given to the other process, too; -1: none.
  /// @return False if the other end is closed.
  [[nodiscard]] bool send(std::span<const std::byte> message, int descriptor = -1) const;

  /// Waits for a message. `interrupted`: a signal's handler has run.
  /// @param into Room for the longest message. @param patience `late` after this time; empty: no
  /// limit. @param process A descriptor that can be read once the other process has ended, which
  /// ends the connection even if a third process has a copy of its end; -1: none.
  [[nodiscard]] received receive(std::span<std::byte> into,
                                 std::optional<std::chrono::milliseconds> patience = std::nullopt,
                                 int process = -1) const;

  /// Ends the connection for both sides; `receive` returns. Any thread.
  void shut() const noexcept;

 private:
  friend class open_channels;
  int socket_;
};

/// Connections to a process that the calling thread starts: ends that stay here, and ends that it
/// gets. The latter are closed here, at the latest with this object. A child that another thread
/// forks meanwhile does not get them: it would keep the connections open.
class new_connections {
 public:
  /// @throws usage_error if the system has no descriptor left.
  explicit new_connections(std::size_t count);
  new_connections(const new_connections&) = delete;
  new_connections& operator=(const new_connections&) = delete;
  ~new_connections();

  [[nodiscard]] const std::vector<int>& others() const noexcept { return others_; }
  /// Moves the ends that stay here.
  [[nodiscard]] std::vector<std::unique_ptr<channel>> take() noexcept { return std::move(own_); }

 private:
  void close_others() noexcept;

  std::vector<std::unique_ptr<channel>> own_;
  std::vector<int> others_;
};

}  // namespace feedline::python
