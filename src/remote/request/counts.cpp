#include "remote/request/counts.hpp"

#include <array>
#include <utility>

namespace feedline::detail {

remote_counters& counters() noexcept {
  constinit static remote_counters all;
  return all;
}

void remote_counters::count(remote_fault fault) noexcept {
  const std::array<std::pair<remote_fault, std::atomic<std::uint64_t>*>, 9> kinds{{
      {remote_fault::throttled, &throttled},
      {remote_fault::server_error, &server_errors},
      {remote_fault::unreachable, &unreachable},
      {remote_fault::reset, &resets},
      {remote_fault::stalled, &stalls},
      {remote_fault::wrong_length, &wrong_lengths},
      {remote_fault::ignored_range, &ignored_ranges},
      {remote_fault::garbage, &garbage},
      {remote_fault::wrong_checksum, &wrong_checksums},
  }};
  for (const auto& [kind, counter] : kinds)
    if (kind == fault) counter->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace feedline::detail
