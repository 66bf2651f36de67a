#pragma once

#include "reader/read_record.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

// Reports what readers are doing, for a thread that has waited for them too long.

/// One reader's read.
struct delayed_read : read_under_way {
  std::size_t reader;   ///< from 0
  std::size_t readers;  ///< number of readers of the loader
};

/// The reads of all readers; the one whose request began earliest is first. Any thread.
[[nodiscard]] std::vector<delayed_read> reads_under_way(std::span<const reader_scratch> readers);

/// The read's first sample, if the sampler tells it.
[[nodiscard]] std::optional<std::uint64_t> first_sample(const delayed_read& read,
                                                        const sample_source& source);

/// "reader 1 of 2 reads sample 17 (epoch 0, batch 3), in a request that it began 12.3 s ago"; the
/// first few, and how many more there are.
[[nodiscard]] std::string in_words(std::span<const delayed_read> reads,
                                   std::chrono::steady_clock::time_point now,
                                   const sample_source& source, std::uint64_t batch_size);

/// "250 ms", "12.3 s".
[[nodiscard]] std::string in_words(std::chrono::nanoseconds time);

}  // namespace feedline::detail
