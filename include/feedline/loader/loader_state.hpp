#pragma once

#include <feedline/export.hpp>
#include <feedline/loader/loader_options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A position in training, for another run to continue from. `loader::state` returns it,
/// `loader::seek` takes it. It is the same on all ranks, so it suffices that one of them saves it.
///
/// A plain value of a few hundred bytes, whatever the dataset's size. `epoch`, `batch`,
/// `unreadable` and `skipped` are the position. The other members identify the dataset and the
/// options, so that `seek` can refuse the state of another loader.
struct loader_state {
  std::uint64_t epoch = 0;  ///< the epoch to continue, or only to end: see `batch`
  /// The next batch in that epoch, numbered like `batch::index`. If it equals the number of
  /// batches, the epoch's last batch was taken, but its end was not reached yet.
  std::uint64_t batch = 0;

  std::uint64_t samples = 0;  ///< number of samples in the dataset
  /// The dataset's fields, as `to_string` of a `field` writes them.
  std::vector<std::string> fields = {};
  std::uint64_t positions = 0;  ///< positions in an epoch: the sampler's size
  /// Fingerprint of the sampler's order: a hash of the samples at 64 positions of each of the
  /// epochs 0 and 1.
  std::uint64_t order = 0;
  /// Number of samples in a batch of all ranks together.
  std::uint64_t global_batch = 0;
  feedline::partial_batch partial_batch = feedline::partial_batch::keep;
  std::uint64_t transform_seed = 0;
  /// Transforms as `to_string` writes them, and the mixing, sorted.
  std::vector<std::string> transforms = {};
  /// Samples of the epoch before `batch` that could not be read. `error_policy` limits their share.
  /// With a `shard` always 0, and ignored.
  std::uint64_t unreadable = 0;
  /// Number of those samples that were left out (`error_action::skip`). The epoch ends one sample
  /// earlier for each.
  std::uint64_t skipped = 0;

  /// Parses text that `to_json` wrote, in this version of feedline or an older one. Spaces and the
  /// order of members do not matter.
  /// @throws usage_error if the text is not a state, is incomplete, or has a newer format.
  [[nodiscard]] static loader_state from_json(std::string_view text);

  friend bool operator==(const loader_state&, const loader_state&) = default;
};

/// One line: a JSON object (RFC 8259) whose first member is the number of its format.
[[nodiscard]] std::string to_json(const loader_state& state);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
