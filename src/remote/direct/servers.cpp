#include "remote/direct/servers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace feedline::detail {
namespace {

/// Most answers of a server are of one kind; a single one may be about one object alone.
constexpr auto refused_for = std::chrono::minutes{1};

constinit std::atomic<std::uint64_t> least{direct_servers::usual_least};

/// libcurl asks a proxy then, and not the server.
bool has_proxy() noexcept {
  for (const char* const name : {"http_proxy", "all_proxy", "ALL_PROXY"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

direct_servers::endpoint endpoint_of(const char* ip, long port) noexcept {
  direct_servers::endpoint made;
  const auto number = htons(static_cast<std::uint16_t>(port));
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET, ip, &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = number;
    made.bytes = sizeof four;
    std::memcpy(&made.address, &four, sizeof four);
  } else if (::inet_pton(AF_INET6, ip, &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = number;
    made.bytes = sizeof six;
    std::memcpy(&made.address, &six, sizeof six);
  }
  return made;
}

}  // namespace

std::optional<direct_address> direct_address::of(std::string_view url) noexcept {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return {};
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f' && c != '#' && c != '\\'; };
  if (!std::ranges::all_of(url, is_plain)) return {};
  const std::size_t slash = url.find('/', scheme.size());
  if (slash == std::string_view::npos) return {};
  const std::string_view host = url.substr(scheme.size(), slash - scheme.size());
  if (host.empty() || host.find_first_of("@?%") != std::string_view::npos) return {};
  return direct_address{url.substr(0, slash), host, url.substr(slash)};
}

void direct_servers::set_least_bytes(std::uint64_t bytes) noexcept {
  least.store(bytes);
}

std::uint64_t direct_servers::least_bytes() noexcept {
  return least.load(std::memory_order_relaxed);
}

void direct_servers::add(std::string_view server, const char* ip, long port) noexcept try {
  if (ip == nullptr || port <= 0 || port > 65'535 || has_proxy()) return;
  const endpoint at = endpoint_of(ip, port);
  if (at.bytes == 0) return;
  const std::lock_guard lock{mutex_};
  all_.try_emplace(std::string{server}).first->second.at = at;
} catch (...) {  // NOLINT(bugprone-empty-catch): libcurl makes its requests
}

bool direct_servers::has(std::string_view server) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(server);
  return found != all_.end() && found->second.at.bytes != 0;
}

std::optional<direct_servers::endpoint> direct_servers::find(std::string_view server,
                                                             clock::time_point now) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(server);
  if (found == all_.end() || found->second.at.bytes == 0 || now < found->second.refused_until)
    return {};
  return found->second.at;
}

void direct_servers::lose(std::string_view server) noexcept {
  const std::lock_guard lock{mutex_};
  if (const auto found = all_.find(server); found != all_.end()) found->second.at = {};
}

bool direct_servers::refuse(std::string_view server) noexcept {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(server);
  if (found == all_.end()) return false;
  const bool is_first = found->second.refused_until == clock::time_point{};
  found->second.refused_until = clock::now() + refused_for;
  return is_first;
}

}  // namespace feedline::detail
