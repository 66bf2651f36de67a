#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace feedline::bench {

/// How a program would read shuffled rows of a file that is not in memory.
enum class by_hand : std::uint8_t {
  pread,            ///< each thread reads rows, one after the other
  hints_and_pread,  ///< the same, but asks for a batch two batches before it is read
};

/// Rows a second that threads read of a file, each row once at most, into memory of their own; for
/// this many seconds, or until all are read. Order: a full shuffle. Batches are of 256 rows, or
/// 32 of 64 KiB and more.
[[nodiscard]] double rows_by_hand(const std::filesystem::path& path, std::size_t row_bytes,
                                  by_hand way, int threads, double seconds);

}  // namespace feedline::bench
