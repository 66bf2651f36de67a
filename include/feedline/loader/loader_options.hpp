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
/// 8; 1 for a dataset that is read by one thread at a time; none for the gather placement, where
/// one thread of the loader's own writes down which rows the device is to fetch.
inline constexpr int automatic_readers = -1;

/// For `loader_options::readers`: no thread reads. The thread that asks for a batch does all the
/// work.
inline constexpr int no_readers = 0;

/// A field that the consumer is going to take from its batches.
struct expected_field {
  std::string name;
  std::optional<element_type> type = {};  ///< empty: any
};

/// How a loader is to be built. Every member has a default; `loader::plan()` tells what the
/// automatic ones became.
///
/// Named in braces, `{.batch_size = 256, .readers = 4, …}`, members come in the order of
/// declaration, or compilers refuse it: batch_size, partial_batch, shard, readers, epochs,
/// batches_per_slot, piece_bytes, staging_slots, device_slots, request_bytes, max_staging_bytes,
/// max_device_bytes, placement, max_device_cache_bytes, decode_on, transforms,
/// transform_seed, mixing, batch_transform, expected_fields, errors, leave_reads_after,
/// trace_events, tuning, near_device. Set one by one, in any.
struct loader_options {
  std::uint64_t batch_size = 1;  ///< samples in a batch; with a `shard`, in one rank's
  feedline::partial_batch partial_batch =
      feedline::partial_batch::keep;  ///< what becomes of a last batch that is not full
  feedline::shard shard = {};         ///< which part of each global batch this process takes
  int readers =
      automatic_readers;     ///< reader threads; `no_readers`: the calling thread does it all
  std::uint64_t epochs = 0;  ///< epochs 0 to n-1 will be taken in order: each is read ahead while
                             ///< the one before ends; 0: unknown
  std::uint64_t batches_per_slot =
      0;  ///< batches that share a slot and its copy, in every slot; 0: one where readers are slow,
          ///< more while they fill slots in a millisecond, up to `piece_bytes`, or 40 MiB where
          ///< the device holds all rows
  std::size_t piece_bytes =
      0;  ///< about how much is staged and copied at a time, of several batches
          ///< or a part of one; 0: 9.5 MiB, 31 if cached, or
          ///< `max_staging_bytes` over the ring's depth if less
  std::size_t staging_slots = 0;      ///< depth of the staging ring; 0: 4, or 3 or 2 when slots are
                                      ///< large, so that 128 MiB do
  std::size_t device_slots = 0;       ///< depth of the device ring; 0: as for `staging_slots`;
                                      ///< unused where batches are read in place
  std::size_t request_bytes = 0;      ///< about how much one reader fills at a time; 0: 512 KiB,
                                      ///< or less: small slots are cut into 4 for each reader
  std::size_t max_staging_bytes = 0;  ///< limit of staging memory; 0: none
  std::size_t max_device_bytes = 0;   ///< limit of device memory, without cached rows; 0: none
  feedline::placement placement = feedline::placement::automatic;  ///< where rows come from
  std::size_t max_device_cache_bytes =
      0;  ///< limit of device memory for cached rows and decoded blocks; 0:
          ///< no rows are cached, unless `placement` is resident: then there
          ///< is no limit, nor for blocks
  feedline::decode_on decode_on = feedline::decode_on::cpu;  ///< who decodes compressed blocks
  std::vector<field_transform> transforms = {};  ///< done on the device, at most one a field
  std::uint64_t transform_seed =
      0;  ///< of all random choices for a sample: those of transforms, and
          ///< what datasets, maps and decoders draw (`sample_context`)
  std::optional<feedline::mixing> mixing =
      {};  ///< mixup and cutmix of two samples of a batch, after the transforms
  std::optional<feedline::batch_transform> batch_transform =
      {};  ///< your own work on each batch, after the transforms and the mixing
  std::vector<expected_field> expected_fields =
      {};  ///< checked against the batches' fields at construction; empty: no check
  error_policy errors = {};  ///< what becomes of samples that cannot be read
  std::chrono::milliseconds leave_reads_after =
      {};  ///< how long destruction waits for reads under way, until it leaves them behind with
           ///< all that they use, the dataset among it; 0, and what no clock can tell: to their end
  std::size_t trace_events =
      0;  ///< for `loader::trace`, how many activities of each thread and stream are kept, 40 bytes
          ///< each; 0: there is no trace
  tuning_budget tuning = {};  ///< readers and staging slots are sought while the loader works,
                              ///< within this; all 0: they stay as they are
  bool near_device = true;    ///< the loader's threads run on those cores alone that are on the
                              ///< device's NUMA node, where the process may use one for each reader
};

/// Checks what can be checked without a dataset, and returns the options.
/// @throws usage_error naming the member, its value, and what is allowed.
[[nodiscard]] loader_options validated(const loader_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
