#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {

/// What becomes of a sample that cannot be read.
enum class error_action : std::uint8_t {
  fail,        ///< the epoch ends with a stage_error
  skip,        ///< it is left out, and the epoch's last sample takes its place: batches keep their
               ///< size, every other sample comes once, and the epoch ends a sample earlier
  substitute,  ///< another sample stands in its place, always the same one
};

/// What a loader does about samples that cannot be read or decoded (`loader_options::errors`), and
/// `load_into_memory` (`load_into_memory_options::errors`).
///
/// It is about `dataset_error`s that the dataset's `read` throws. Any other exception ends the
/// epoch as ever: those of samplers and devices, exhausted memory, and what a user's own function
/// (`map`, a decoder, a dataset of one's own) throws that is no dataset_error.
///
/// Which samples are left out, and the order of the others, depend on the data alone: not on
/// readers, slots, placement or device, nor on where a run was resumed (`loader_state`).
struct error_policy {
  error_action action = error_action::fail;
  std::uint64_t substitute = 0;  ///< with `error_action::substitute`: its index in the dataset
  int retries = 0;               ///< how often a read that failed is tried again before that, with
                                 ///< any action; 0: not at all
  std::chrono::milliseconds first_pause{100};   ///< before the first retry; twice as long before
                                                ///< each next one; 0: none
  std::chrono::milliseconds max_pause{10'000};  ///< the longest pause
  double max_share = 0.05;   ///< of the samples that this process takes in an epoch: if more cannot
                             ///< be read, the epoch ends with a stage_error; 0: none may fail, 1:
                             ///< no limit
  std::size_t listed = 100;  ///< `loader::failures` lists so many; the others are only counted
};

/// A sample that could not be read, and what was done about it.
struct sample_failure {
  std::uint64_t epoch = 0;
  feedline::position position;  ///< in the epoch's order
  sample_index sample;          ///< in the dataset
  std::string path;             ///< file; empty where the cause knows none
  std::string message;          ///< the cause's words, with the place as far as it is known
  error_action action = error_action::skip;
  std::optional<sample_index> replaced_by = {};  ///< the sample in its place; empty: its place was
                                                 ///< cut off the epoch's end, or the epoch failed
};

/// What of a loader's batches could not be read, as far as they were taken.
struct failure_report {
  std::uint64_t count = 0;  ///< in all epochs; a sample counts again in each
  std::uint64_t recovered_reads =
      0;  ///< reads that failed at first and succeeded when tried again,
          ///< also of batches that were not taken yet
  std::vector<sample_failure> first = {};  ///< the first `error_policy::listed` of them, in order
};

}  // namespace feedline
