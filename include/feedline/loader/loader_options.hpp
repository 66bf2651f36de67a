#pragma once

#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/decode_on.hpp>
#include <feedline/loader/expert_options.hpp>
#include <feedline/loader/host_field.hpp>
#include <feedline/loader/memory_limits.hpp>
#include <feedline/loader/placement.hpp>
#include <feedline/sampler/partial_batch.hpp>
#include <feedline/sampler/shard.hpp>
#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/mixing.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// For `loader_options::readers`: at first half the cores that the process may use, at least 1 and
/// at most 8. If the consumer waits, the loader tries other numbers, up to twice as many and no
/// more than there are cores, and keeps the fastest (`expert_options::tuning`). A dataset that is
/// read by one thread at a time has 1; one that is read by other processes has as many as these
/// serve at once; the gather placement has none, because the device fetches the rows itself.
inline constexpr int automatic_readers = -1;

/// For `loader_options::readers`: no thread reads. The thread that asks for a batch does all the
/// work.
inline constexpr int no_readers = 0;

/// Options of a loader. Every member has a default, and `loader::plan()` returns the values that
/// the loader chose. In braces, `{.batch_size = 256, .readers = 4}`, C++ requires the order of
/// declaration.
struct loader_options {
  /// Samples in a batch, at least 1; with a `shard`, in the batch of one rank.
  std::uint64_t batch_size = 1;
  /// The policy for a last batch that is not full.
  feedline::partial_batch partial_batch = feedline::partial_batch::keep;
  /// The part of each global batch that this process takes.
  feedline::shard shard = {};
  /// Epochs 0 to n − 1 will be taken in order; each is read ahead while the one before ends.
  /// 0: unknown.
  std::uint64_t epochs = 0;
  /// Reader threads, 0 to 1024, or `automatic_readers`. `no_readers` (0): the thread that asks for
  /// a batch does all the work.
  int readers = automatic_readers;
  /// Where the device takes rows from.
  feedline::placement placement = feedline::placement::automatic;
  /// Whether readers or the device decode compressed blocks.
  feedline::decode_on decode_on = feedline::decode_on::cpu;
  /// The transforms that the device applies to fields, at most one for each.
  std::vector<field_transform> transforms = {};
  /// Mixup and cutmix of two samples of a batch, after the transforms. Empty: none.
  std::optional<feedline::mixing> mixing = {};
  /// Fields that the host reads, such as labels or ids, without a copy back from the device. They
  /// are not transformed or mixed. Rows must stream: other placements refuse them.
  std::vector<host_field> keep_on_host = {};
  /// The seed of all random choices for a sample: those of transforms, and those of datasets, maps
  /// and decoders (`sample_context`). 0 is a seed like any other.
  std::uint64_t seed = 0;
  /// The policy for samples that cannot be read.
  error_policy errors = {};
  /// How much memory the loader may allocate.
  memory_limits memory = {};
  /// Options that few programs need.
  expert_options expert = {};
};

/// Checks what can be checked without a dataset, and returns the options.
/// @throws usage_error naming the member, its value, and what is allowed.
[[nodiscard]] loader_options validated(const loader_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
