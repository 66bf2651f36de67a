#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/decode_on.hpp>
#include <feedline/loader/placement.hpp>
#include <feedline/loader/tuning_budget.hpp>
#include <feedline/sampler/partial_batch.hpp>
#include <feedline/sampler/shard.hpp>
#include <feedline/transform/batch_transform.hpp>
#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/mixing.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// For `loader_options::readers`: half the cores that the process may use, at least 1 and at most
/// 8; 1 for a dataset that is read by one thread at a time. None for the gather placement, where
/// one of the loader's own threads writes the numbers of the rows that the device fetches.
inline constexpr int automatic_readers = -1;

/// For `loader_options::readers`: no thread reads. The thread that requests a batch does all the
/// work.
inline constexpr int no_readers = 0;

/// A field that the consumer takes from its batches.
struct expected_field {
  std::string name;
  std::optional<element_type> type = {};  ///< empty: any
};

/// Options of a loader. Every member has a default; `loader::plan()` returns the values chosen for
/// automatic ones.
///
/// Designated initializers, `{.batch_size = 256, .readers = 4, …}`, must follow the order of
/// declaration: batch_size, partial_batch, shard, readers, epochs, batches_per_slot, piece_bytes,
/// staging_slots, device_slots, request_bytes, max_staging_bytes, max_device_bytes, placement,
/// max_device_cache_bytes, decode_on, transforms, transform_seed, mixing, batch_transform,
/// expected_fields, errors, leave_reads_after, trace_events, tuning, near_device. Assignments may
/// be in any order.
struct loader_options {
  std::uint64_t batch_size = 1;  ///< samples in a batch; with a `shard`, in the batch of one rank
  /// Handling of a last batch that is not full.
  feedline::partial_batch partial_batch = feedline::partial_batch::keep;
  feedline::shard shard = {};  ///< part of each global batch that this process takes
  /// Reader threads. `no_readers`: the calling thread does all the work.
  int readers = automatic_readers;
  /// Epochs 0 to n-1 will be taken in order, and each is read ahead while the previous one ends; 0:
  /// unknown.
  std::uint64_t epochs = 0;
  /// Batches that share a slot and its copy, in every slot. 0: one if readers are slow. More if
  /// they fill slots within a millisecond, up to `piece_bytes`, or 40 MiB if the device has all
  /// rows.
  std::uint64_t batches_per_slot = 0;
  /// Approximate size that is staged and copied at a time: several batches, or a part of one. 0:
  /// 9.5 MiB, 31 MiB if cached, or `max_staging_bytes` divided by the ring's depth if that is less.
  std::size_t piece_bytes = 0;
  /// Depth of the staging ring. 0: 4, or 3 or 2 if slots are large, to stay within 128 MiB.
  std::size_t staging_slots = 0;
  /// Depth of the device ring. 0: as for `staging_slots`. Unused if the consumer reads staging
  /// memory.
  std::size_t device_slots = 0;
  /// Approximate size that one reader fills at a time. 0: 512 KiB, or less, because small slots are
  /// cut into 4 requests for each reader.
  std::size_t request_bytes = 0;
  std::size_t max_staging_bytes = 0;  ///< limit of staging memory; 0: none
  std::size_t max_device_bytes = 0;   ///< limit of device memory, excluding cached rows; 0: none
  feedline::placement placement = feedline::placement::automatic;  ///< source of the rows
  /// Limit of device memory for cached rows and decoded blocks. 0: no rows are cached. With
  /// placement `resident`, 0 means no limit, for blocks too.
  std::size_t max_device_cache_bytes = 0;
  feedline::decode_on decode_on = feedline::decode_on::cpu;  ///< decoder of compressed blocks
  std::vector<field_transform> transforms = {};  ///< done on the device, at most one a field
  /// Seed of all random choices for a sample: those of transforms, and those of datasets, maps and
  /// decoders (`sample_context`).
  std::uint64_t transform_seed = 0;
  /// Mixup and cutmix of two samples of a batch, after the transforms.
  std::optional<feedline::mixing> mixing = {};
  /// Your own work on each batch, after the transforms and the mixing.
  std::optional<feedline::batch_transform> batch_transform = {};
  /// Checked against the batches' fields at construction; empty: no check.
  std::vector<expected_field> expected_fields = {};
  error_policy errors = {};  ///< policy for samples that cannot be read
  /// Time that destruction waits for reads under way. After that it abandons them together with
  /// everything that they use, including the dataset. 0, or a time that no clock can represent: it
  /// waits until they end.
  std::chrono::milliseconds leave_reads_after = {};
  /// For `loader::trace`: number of activities that are kept for each thread and stream, 40 bytes
  /// each; 0: no trace.
  std::size_t trace_events = 0;
  /// Budget within which the numbers of readers and staging slots are tuned while the loader works;
  /// all 0: they are fixed.
  tuning_budget tuning = {};
  /// Whether the loader's threads run only on cores of the device's NUMA node. This applies if the
  /// process may use one such core for each reader.
  bool near_device = true;
};

/// Checks what can be checked without a dataset, and returns the options.
/// @throws usage_error naming the member, its value, and what is allowed.
[[nodiscard]] loader_options validated(const loader_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
