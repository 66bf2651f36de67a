#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// What one reader needs for a run of samples; kept from run to run so that reading allocates
/// nothing.
struct reader_scratch {
  std::vector<sample_index> samples;      ///< of the run
  std::vector<sample_index> missing;      ///< those of them that must be read
  std::vector<std::uint32_t> kept_as;     ///< for each of these, the kept row that it becomes
  std::vector<std::span<std::byte>> out;  ///< where the dataset reads to
  std::vector<std::byte> rows;            ///< as the dataset has them, where they are converted
};

/// The calling thread's.
[[nodiscard]] inline reader_scratch& this_readers_scratch() {
  thread_local reader_scratch kept;
  return kept;
}

}  // namespace feedline::detail
