#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/decode_on.hpp>
#include <feedline/loader/placement.hpp>
#include <feedline/sampler/shard.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// All choices of a loader; fixed at construction. `staging_bytes` and `device_bytes` are all the
/// memory that the loader ever allocates for samples, with two exceptions: up to 4 MiB of staging
/// memory, through which the small fields of a gather are copied while the loader is created; and
/// further slots, if `expert_options::on_held` asks for them.
struct loader_plan {
  std::vector<field> fields;  ///< fields of the batches, after transforms
  feedline::placement placement = feedline::placement::stream;  ///< never `automatic`
  /// Decoder of compressed blocks: readers or the device.
  feedline::decode_on decode_on = feedline::decode_on::cpu;
  /// Fields that the device decodes; readers make the others. Empty: it decodes none. Readers also
  /// decode single images of these fields that devices cannot decode, such as progressive JPEGs
  /// (`loader_statistics::decoded`).
  std::vector<std::string> decoded_fields = {};
  /// Why the device does not decode, or only a part, if that was requested.
  std::string decode_note = {};
  /// The most blocks or chunks that the device decodes at once; 0: it decodes none.
  std::uint64_t decoded_at_once = 0;
  /// Whether readers decode blocks that the device has decoders for. Ignores whether order,
  /// placement and error policy let the device decode.
  bool device_could_decode = false;
  /// Names of fields that the device makes from others, so that readers do not write them and they
  /// are not copied: NAME_position, NAME_document and NAME_mask of `pack_together`.
  std::vector<std::string> made_on_device = {};
  /// Why readers make such fields instead; empty if they make none.
  std::string made_note = {};
  bool assembled = false;  ///< whether a device kernel assembles slots; else slots are copied whole
  feedline::shard shard = {};  ///< same as in the options
  /// Samples delivered to this rank in an epoch: includes repeats, excludes a dropped last batch.
  std::uint64_t samples_per_epoch = 0;
  std::uint64_t repeats_per_epoch = 0;  ///< `batch::repeats` of the epoch's last batch
  std::uint64_t batch_size = 0;
  std::uint64_t batches_per_epoch = 0;
  std::uint64_t batches_per_slot = 0;  ///< capacity of a device slot, in batches
  /// Capacity of a staging slot, in samples: whole batches, or a part of a large one.
  std::uint64_t piece_samples = 0;
  /// Whether slots begin with one batch and get more while readers are fast enough. If not, each
  /// slot holds `batches_per_slot` batches, except the epoch's last.
  bool slots_grow = false;
  std::uint64_t slots_per_epoch = 0;  ///< if all slots are full; more while they grow
  std::uint64_t request_samples = 0;  ///< maximum number of samples in a reader's request
  /// A slot with at least this many samples is cut into at least this many requests. So readers
  /// share its first batch, and finish quickly when an epoch is abandoned. 0: no minimum.
  std::uint64_t min_requests = 0;
  /// About how many bytes a reader asks for at a time because they are on other machines; 0: they
  /// are not, or `expert_options::request_bytes` is set, or it is not known where samples are.
  std::size_t far_request_bytes = 0;
  /// Samples whose rows the device keeps (resident, cached) or reads from the dataset's memory
  /// (gather).
  std::uint64_t cached_samples = 0;
  std::size_t batch_bytes = 0;  ///< one batch within a device slot, each field aligned
  std::size_t slot_bytes = 0;   ///< size of a staging slot
  /// Size of a device slot; 0 if the consumer reads staging slots directly.
  std::size_t device_slot_bytes = 0;
  /// Number of staging slots; with tuning, for the whole budget.
  std::size_t staging_slots = 0;
  std::size_t first_staging_slots = 0;  ///< staging slots in use at first
  /// Number of device slots; 0 if the consumer reads staging slots directly.
  std::size_t device_slots = 0;
  /// Device memory into which slots are copied before they are assembled; 0 unless `assembled`.
  std::size_t destination_bytes = 0;
  std::size_t cache_bytes = 0;  ///< device memory for cached rows or decoded blocks
  /// staging_slots × slot_bytes, plus 4 bytes for each device slot if the device decodes.
  std::size_t staging_bytes = 0;
  /// device_slots × device_slot_bytes + destination_bytes + cache_bytes.
  std::size_t device_bytes = 0;
  /// Memory of the host besides staging slots, for fields that the host keeps (`keep_on_host`).
  std::size_t host_bytes = 0;
  int readers = 0;        ///< reader threads; with tuning, for the whole budget
  int first_readers = 0;  ///< readers that take requests at first
  /// Whether the loader's own threads work ahead. If not, the calling thread does all the work.
  bool background = true;
  /// Cores near the device on which the loader's threads run; empty: all cores that the process may
  /// use.
  std::vector<unsigned> cores = {};
};

/// One human-readable line: slots, sizes, totals.
[[nodiscard]] std::string to_string(const loader_plan& plan);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
