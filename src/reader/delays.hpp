#pragma once

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

/// The current reads of readers, for a thread that has waited for them too long.
struct delayed_reads {
  /// "reader 1 of 2 reads sample 17 (epoch 0, batch 3), in a request that it began 12.3 s ago": the
  /// first few in the order in which they began, and how many more there are. Empty if there are
  /// none.
  std::string words;
  std::optional<std::uint64_t> sample;  ///< the first one's, if the sampler tells it
};

/// The reads of all readers. Any thread.
[[nodiscard]] delayed_reads reads_under_way(std::span<const reader_scratch> readers,
                                            std::chrono::steady_clock::time_point now,
                                            const sample_source& source, std::uint64_t batch_size);

/// "250 ms", "12.3 s".
[[nodiscard]] std::string in_words(std::chrono::nanoseconds time);

}  // namespace feedline::detail
