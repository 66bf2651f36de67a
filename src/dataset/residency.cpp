#include "dataset/residency.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace feedline::detail {
namespace {

constexpr std::uint64_t samples = 64;
constexpr std::uint64_t sample_bytes = std::uint64_t{256} << 10;

/// Where the i-th of `samples` pieces of so many bytes begins, at a page's start; the first at the file's
/// beginning, the last at its end.
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

std::optional<double> by_cachestat(int descriptor, std::uint64_t bytes) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t cached = 0;
  std::uint64_t asked = 0;
  const bool whole = bytes <= samples * sample_bytes;
  for (std::uint64_t i = 0; i < (whole ? 1 : samples); ++i) {
    cache_range range{.offset = whole ? 0 : sample_at(i, bytes, sample_bytes),
                      .bytes = whole ? bytes : sample_bytes};
    cache_pages found{};
    // Refused (EPERM) for files that the caller does not own and may not write.
    if (::syscall(cachestat_number, descriptor, &range, &found, 0U) != 0) return std::nullopt;
    const std::uint64_t end = std::min(range.offset + range.bytes, bytes);
    asked += (end + page - 1) / page - range.offset / page;
    cached += found.cached;
  }
  return std::min(1.0, static_cast<double>(cached) / static_cast<double>(asked));
}

/// Reads that are refused where they would wait: older kernels, and others' files. (mincore would say
/// of these that all is in memory.)
std::optional<double> by_reads_that_may_not_wait(int descriptor, std::uint64_t bytes) noexcept {
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    char byte = 0;
    const iovec into{.iov_base = &byte, .iov_len = 1};
    if (::preadv2(descriptor, &into, 1, static_cast<off_t>(sample_at(i, bytes, 1)), RWF_NOWAIT) >=
        0)
      ++cached;
    else if (errno != EAGAIN)
      return std::nullopt;
  }
  return static_cast<double>(cached) / static_cast<double>(samples);
}

}  // namespace

std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept {
  if (bytes == 0) return 1.0;
  const auto share = by_cachestat(descriptor, bytes);
  return share ? share : by_reads_that_may_not_wait(descriptor, bytes);
}

}  // namespace feedline::detail
