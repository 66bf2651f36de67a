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
  error_action action = error_action::fail;  ///< what becomes of a sample that cannot be read
  std::uint64_t substitute = 0;  ///< with `error_action::substitute`: its index in the dataset
  /// How often a sample that cannot be read is tried again before that, with any action; 0: not at
  /// all. Tries are counted by sample, whatever it is read together with: if a read of several
  /// fails, each of them is read alone. The failed read was a try of the sample that its
  /// dataset_error names, and of no other.
  int retries = 0;
  std::chrono::milliseconds first_pause{100};   ///< before the first retry; twice as long before
                                                ///< each next one; 0: none
  std::chrono::milliseconds max_pause{10'000};  ///< the longest pause; at most 24 hours
  /// The largest share of the epoch's samples that may be unreadable. With one more the epoch ends
  /// with a stage_error, also if the batch with that sample is cut off the epoch's end; 0: none may
  /// be, 1: no limit. It is a share of the samples that this process takes in the epoch, each
  /// position of the order once. Repeats (`partial_batch::fill`, a `shard`'s last batch) count
  /// neither as samples nor as unreadable. What `partial_batch::drop` leaves out counts with `skip`
  /// alone, where it may stand in for others.
  double max_share = 0.05;
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
  std::uint64_t count = 0;  ///< in all epochs; a sample counts again in each, and where it was to
                            ///< be repeated and another one was substituted
  std::uint64_t recovered_reads =
      0;  ///< samples that could not be read at first and could when tried again, also of
          ///< batches that were not taken yet; a read of several that failed counts once if each
          ///< of them could be read alone
  std::vector<sample_failure> first = {};  ///< the first `error_policy::listed` of them, in order
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
