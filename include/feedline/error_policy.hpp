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
inline namespace FEEDLINE_ABI {

/// Action for a sample that cannot be read.
enum class error_action : std::uint8_t {
  fail,  ///< the epoch ends with a stage_error
  /// The sample is left out, and the epoch's last sample replaces it. Batches keep their size,
  /// every other sample comes once, and the epoch ends one sample earlier.
  skip,
  substitute,  ///< one fixed other sample replaces it
};

/// Policy for samples that cannot be read or decoded, used by loaders (`loader_options::errors`)
/// and by `load_into_memory` (`load_into_memory_options::errors`).
///
/// The policy covers `dataset_error`s thrown by the dataset's `read`. Any other exception ends the
/// epoch as usual. This includes exceptions of samplers and devices, exhausted memory, and
/// exceptions other than dataset_error that a user's own function throws (`map`, a decoder, a
/// user's dataset).
///
/// The samples that are left out, and the order of the others, depend on the data alone. They do
/// not depend on readers, slots, placement or device, nor on the batch at which training was
/// resumed (`loader_state`).
struct error_policy {
  error_action action = error_action::fail;  ///< action for a sample that cannot be read
  /// With `error_action::substitute`: the replacement sample's index in the dataset.
  std::uint64_t substitute = 0;
  /// Number of times that an unreadable sample is tried again before the action is taken, for any
  /// action; 0: none. Tries are counted for each sample, independently of the samples it is read
  /// together with. If a read of several samples fails, each of them is then read alone. The failed
  /// read counts as a try of the sample that its dataset_error names, and of no other.
  int retries = 0;
  /// Pause before the first retry. Each further pause is twice as long. 0: no pause.
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds max_pause{10'000};  ///< upper limit of a pause; at most 24 hours
  /// Largest share of the epoch's samples that may be unreadable. One more ends the epoch with a
  /// stage_error, even if the batch with that sample is cut off at the epoch's end. 0: none may be
  /// unreadable; 1: no limit. The share refers to the samples that this process takes in the epoch,
  /// each position of the order counted once. Repeats (`partial_batch::fill`, the last batch of a
  /// `shard`) count neither as samples nor as unreadable. Samples dropped by `partial_batch::drop`
  /// count only with `skip`, because there they may replace others.
  double max_share = 0.05;
  /// Maximum number of failures that `loader::failures` lists. Further ones are only counted.
  std::size_t listed = 100;
};

/// A sample that could not be read, and the action taken.
struct sample_failure {
  std::uint64_t epoch = 0;
  feedline::position position;  ///< position in the epoch's order
  sample_index sample;          ///< index in the dataset
  std::string path;             ///< file; empty if the cause does not know it
  std::string message;          ///< the cause's message, with the location if known
  error_action action = error_action::skip;
  /// The replacement sample. Empty if the unreadable sample's position was cut off at the epoch's
  /// end, or if the epoch failed.
  std::optional<sample_index> replaced_by = {};
};

/// Unreadable samples of the batches taken from a loader so far.
struct failure_report {
  /// Unreadable samples in all epochs. A sample counts once for each position at which it should
  /// have been delivered, so it counts again in each epoch, and as a repeat.
  std::uint64_t count = 0;
  /// Samples that could not be read at first but succeeded when tried again, including samples of
  /// batches that were not taken yet. If a read of several samples failed and each of them could
  /// then be read alone, this counts once.
  std::uint64_t recovered_reads = 0;
  std::vector<sample_failure> first = {};  ///< the first `error_policy::listed` failures, in order
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
