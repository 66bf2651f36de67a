#pragma once

#include <cstdint>
#include <string>

namespace feedline::bench {

/// Treatment of the bytes that a client is sent.
enum class bare_use : std::uint8_t {
  discard,     ///< the kernel drops them, so that the server is what limits
  one_copy,    ///< the kernel copies them to memory that is much larger than caches
  two_copies,  ///< the kernel copies them to a small buffer, and they are copied on from there
};
[[nodiscard]] std::string to_string(bare_use use);

struct bare_rate {
  double bytes_per_second = 0;
  double cores = 0;  ///< CPU seconds of this process a second
};

/// The rate of a client without HTTP's library and without a loader: threads that each ask for
/// ranges of one file by several connections, one after the other on each.
/// @param threads At least 1. @param connections Number over all threads.
/// @throws std::runtime_error if a connection fails.
[[nodiscard]] bare_rate measure_bare(int port, const std::string& path, std::uint64_t file_bytes,
                                     std::uint64_t range_bytes, int threads, int connections,
                                     bare_use use, double seconds);

}  // namespace feedline::bench
