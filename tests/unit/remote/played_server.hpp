#pragma once

#include "support/checks/catch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace feedline::test {

/// A server whose side of each connection is played by the test, step by step.
class played_server {
 public:
  /// The server's side of a connection.
  class connection {
   public:
    explicit connection(int socket = -1) : socket_{socket} {}
    connection(connection&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}
    connection& operator=(connection&& other) noexcept {
      std::swap(socket_, other.socket_);
      return *this;
    }
    ~connection() {
      if (socket_ >= 0) ::close(socket_);
    }
    [[nodiscard]] std::string take_request() const {
      std::string all;
      while (!all.ends_with("\r\n\r\n")) {
        char one = 0;
        if (::recv(socket_, &one, 1, 0) != 1) break;
        all += one;
      }
      return all;
    }
    void send(std::string_view text) const {
      REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text));
    }

   private:
    int socket_;
  };

  /// @param backlog Connections that the system accepts before the server takes them.
  explicit played_server(int backlog = 8) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(listening_, backlog) == 0);
    REQUIRE(::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port_ = ntohs(at.sin_port);
  }
  played_server(const played_server&) = delete;
  played_server& operator=(const played_server&) = delete;
  ~played_server() { stop(); }

  [[nodiscard]] int port() const { return port_; }
  void accept() { connection_ = connection{::accept(listening_, nullptr, nullptr)}; }
  [[nodiscard]] std::string take_request() const { return connection_.take_request(); }
  void send(std::string_view text) const { connection_.send(text); }
  /// The connection, which stays open when the next one is taken.
  [[nodiscard]] connection keep() { return std::move(connection_); }
  void close() { const connection closed = keep(); }
  void stop() {
    if (listening_ >= 0) ::close(listening_);
    listening_ = -1;
  }

 private:
  int listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  connection connection_;
  int port_ = 0;
};

}  // namespace feedline::test
