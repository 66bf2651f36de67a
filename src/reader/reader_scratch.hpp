#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// What one reader needs for a run of samples; kept from run to run so that reading allocates
/// nothing. It belongs to a reader of one loader, not to a thread: a dataset's `read` may use
/// another loader, whose runs are then read on the same thread in the midst of one.
struct reader_scratch {
  std::vector<sample_index> samples;      ///< of the run
  std::vector<sample_index> missing;      ///< those of them that must be read
  std::vector<position> missing_at;       ///< and where each of these stands
  std::vector<std::uint32_t> cached_as;   ///< for each of these, the cached row that it becomes
  std::vector<std::span<std::byte>> out;  ///< where the dataset reads to
  std::vector<std::byte> rows;            ///< as the dataset has them, where they are converted
};

}  // namespace feedline::detail
