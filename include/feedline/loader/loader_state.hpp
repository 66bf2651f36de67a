#pragma once

#include <feedline/export.hpp>
#include <feedline/loader/loader_options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Where a run stands, for another one to go on there: `loader::state` makes it, `loader::seek`
/// takes it. All ranks have the same one, so it suffices that one of them keeps it.
///
/// A plain value of a few hundred bytes, whatever the dataset's size. Only the first two members
/// and the last two say where. The others say of what, so that `seek` can refuse a state of
/// something else.
struct loader_state {
  std::uint64_t epoch = 0;  ///< to go on with, or to end: see `batch`
  std::uint64_t batch = 0;  ///< the next one in that epoch, as `batch::index` counts; the number of
                            ///< all batches: the epoch's last was taken, but its end not yet seen

  std::uint64_t samples = 0;  ///< of the dataset
  std::vector<std::string> fields =
      {};                       ///< of the dataset, as `to_string` of a `field` writes them
  std::uint64_t positions = 0;  ///< of an epoch: the sampler's size
  std::uint64_t order = 0;      ///< fingerprint of the sampler's order: a hash of what stands at 64
                                ///< positions of each of epochs 0 and 1
  std::uint64_t global_batch = 0;  ///< samples in a batch of all ranks together
  feedline::partial_batch partial_batch = feedline::partial_batch::keep;
  std::uint64_t transform_seed = 0;
  std::vector<std::string> transforms = {};  ///< as `to_string` writes them, and the mixing, sorted
  std::uint64_t unreadable = 0;  ///< samples of the epoch before `batch` that could not be read, to
                                 ///< which `error_policy` allows a share; with a `shard` always 0,
                                 ///< and not looked at
  std::uint64_t skipped = 0;     ///< of them, those left out (`error_action::skip`): for each one
                                 ///< the epoch ends a sample earlier

  /// Reads what `to_json` wrote, in this version of feedline or an older one. Spaces and the order
  /// of members do not matter.
  /// @throws usage_error if the text is no state, or not a whole one, or of a newer format.
  [[nodiscard]] static loader_state from_json(std::string_view text);

  friend bool operator==(const loader_state&, const loader_state&) = default;
};

/// One line: an object of JSON (RFC 8259), its first member the number of its format.
[[nodiscard]] std::string to_json(const loader_state& state);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
