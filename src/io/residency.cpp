#include "io/residency.hpp"

#include <feedline/detail/splitmix64.hpp>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace feedline::detail {
namespace {

constexpr std::uint64_t samples = 64;
constexpr std::uint64_t sample_bytes = std::uint64_t{256} << 10;

/// Where the i-th of `samples` pieces of so many bytes begins, at a page's start; the first at the
/// file's beginning, the last at its end.
std::uint64_t sample_at(std::uint64_t i, std::uint64_t bytes, std::uint64_t piece) noexcept {
  const std::uint64_t room = bytes > piece ? bytes - piece : 0;
  return (room / (samples - 1) * i + room % (samples - 1) * i / (samples - 1)) / 4096 * 4096;
}

/// cachestat(2), of Linux 6.5 and newer; one number on all architectures.
#ifdef __NR_cachestat
constexpr long cachestat_number = __NR_cachestat;
#else
constexpr long cachestat_number = 451;
#endif

struct cache_range {
  std::uint64_t offset;
  std::uint64_t bytes;
};

struct cache_pages {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t written_back;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

}  // namespace

std::optional<double> resident_share_by_cachestat(int descriptor, std::uint64_t bytes) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t cached = 0;
  std::uint64_t asked = 0;
  const bool whole = bytes <= samples * sample_bytes;
  for (std::uint64_t i = 0; i < (whole ? 1 : samples); ++i) {
    cache_range range{.offset = whole ? 0 : sample_at(i, bytes, sample_bytes),
                      .bytes = whole ? bytes : sample_bytes};
    cache_pages found{};
    if (::syscall(cachestat_number, descriptor, &range, &found, 0U) != 0) return std::nullopt;
    const std::uint64_t end = std::min(range.offset + range.bytes, bytes);
    asked += (end + page - 1) / page - range.offset / page;
    cached += found.cached;
  }
  return std::min(1.0, static_cast<double>(cached) / static_cast<double>(asked));
}

std::optional<double> resident_share_by_reads(int descriptor, std::uint64_t bytes) noexcept {
  std::uint64_t random =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    random += golden_gamma;
    char byte = 0;
    const iovec into{.iov_base = &byte, .iov_len = 1};
    if (::preadv2(descriptor, &into, 1, static_cast<off_t>(mix(random) % bytes), RWF_NOWAIT) >= 0)
      ++cached;
    else if (errno != EAGAIN)
      return std::nullopt;
  }
  return static_cast<double>(cached) / static_cast<double>(samples);
}

std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept {
  if (bytes == 0) return 1.0;
  const auto share = resident_share_by_cachestat(descriptor, bytes);
  return share ? share : resident_share_by_reads(descriptor, bytes);
}

}  // namespace feedline::detail
