#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace feedline::detail {

/// An address without TLS, a password, or characters that need an encoding.
struct direct_address {
  std::string_view server;  ///< "http://HOST:PORT"
  std::string_view host;    ///< with the port, as it is in the address
  std::string_view path;    ///< with the query

  /// Nothing: an address of another kind, which libcurl understands.
  [[nodiscard]] static std::optional<direct_address> of(std::string_view url) noexcept;
};

/// The servers to which connections of our own can be made: those that libcurl has reached, without
/// a proxy or a redirect. Any thread.
class direct_servers {
 public:
  using clock = std::chrono::steady_clock;

  struct endpoint {
    sockaddr_storage address = {};
    socklen_t bytes = 0;
  };

  /// Copying fewer bytes costs less than one more connection.
  static constexpr std::uint64_t usual_least = std::uint64_t{32} << 10;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  /// Bytes that a request asks for at least, from now on.
  static void set_least_bytes(std::uint64_t bytes) noexcept;
  [[nodiscard]] static std::uint64_t least_bytes() noexcept;

  /// libcurl has reached a server. Forgotten if there is no memory for it. @param ip In numbers.
  void add(std::string_view server, const char* ip, long port) noexcept;
  [[nodiscard]] bool has(std::string_view server) const;
  /// Nothing: it was not reached yet, or it is refused.
  [[nodiscard]] std::optional<endpoint> find(std::string_view server,
                                             clock::time_point now = clock::now()) const;
  /// It cannot be reached at its address any more, until libcurl reaches it again.
  void lose(std::string_view server) noexcept;
  /// An answer is of a kind that libcurl alone understands: for a minute libcurl makes all requests
  /// to the server. @return Whether that is the first time.
  bool refuse(std::string_view server) noexcept;

 private:
  struct known {
    endpoint at;
    clock::time_point refused_until = {};
  };
  mutable std::mutex mutex_;
  std::map<std::string, known, std::less<>> all_;
};

}  // namespace feedline::detail
