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

/// What a loader chose, in full; fixed at construction. `staging_bytes` and `device_bytes` are all
/// the memory that the loader ever allocates for samples, except up to 4 MiB of staging memory: the
/// small fields of a gather pass through it while the loader is made; and four bytes of it for each
/// device slot where the device decodes.
struct loader_plan {
  std::vector<field> fields;  ///< as batches have them: after transforms
  feedline::placement placement = feedline::placement::stream;  ///< never `automatic`
  feedline::decode_on decode_on = feedline::decode_on::cpu;     ///< who decodes compressed blocks
  std::string decode_note = {};      ///< why the device does not, if that was asked for
  bool device_could_decode = false;  ///< readers decode blocks that the device has decoders for;
                                     ///< order, placement and error policy are not looked at
  bool assembled = false;  ///< slots are put together by a kernel of the device; else copied whole
  feedline::shard shard = {};           ///< as asked for
  std::uint64_t samples_per_epoch = 0;  ///< delivered to this rank: without those of a dropped last
                                        ///< batch, with repeats
  std::uint64_t repeats_per_epoch = 0;  ///< of these, `batch::repeats` of the last batch
  std::uint64_t batch_size = 0;
  std::uint64_t batches_per_epoch = 0;
  std::uint64_t batches_per_slot = 0;  ///< that a device slot has room for
  std::uint64_t piece_samples =
      0;  ///< that a staging slot has room for: whole batches, or a part of
          ///< a large one
  bool slots_grow =
      false;  ///< slots begin with one batch and grow while readers keep up; else each
              ///< holds `batches_per_slot`, except the epoch's last
  std::uint64_t slots_per_epoch = 0;  ///< if all are full; more while they grow
  std::uint64_t request_samples = 0;  ///< samples a reader takes at a time, at most
  std::uint64_t min_requests = 0;    ///< that a slot is cut into if it has so many samples, so that
                                     ///< readers share its first batch, and are soon done with an
                                     ///< epoch that is left; 0: any number
  std::uint64_t cached_samples = 0;  ///< whose rows the device keeps (resident, cached) or reads in
                                     ///< the dataset's memory (gather)
  std::size_t batch_bytes = 0;       ///< of one batch within a device slot, each field aligned
  std::size_t slot_bytes = 0;        ///< of a staging slot
  std::size_t device_slot_bytes = 0;    ///< 0 where batches are read in place
  std::size_t staging_slots = 0;        ///< with tuning: of the whole budget
  std::size_t first_staging_slots = 0;  ///< of these, that go round at first
  std::size_t device_slots = 0;         ///< 0 where batches are read in place
  std::size_t landing_bytes = 0;        ///< device memory that slots pass through; 0 unless
                                        ///< assembled
  std::size_t cache_bytes = 0;    ///< device memory that rows are cached in, or decoded blocks kept
  std::size_t staging_bytes = 0;  ///< staging_slots × slot_bytes; 4 a device slot if it decodes
  std::size_t device_bytes = 0;   ///< device_slots × device_slot_bytes + landing_bytes +
                                  ///< cache_bytes
  int readers = 0;                ///< with tuning: of the whole budget
  int first_readers = 0;          ///< of these, that take requests at first
  bool background = true;  ///< threads of the loader's own work ahead; false: all is done on the
                           ///< calling thread
  std::vector<unsigned> cores = {};  ///< near the device, which the loader's threads run on; empty:
                                     ///< on all that the process may use
};

/// One line for people: slots, sizes, totals.
[[nodiscard]] std::string to_string(const loader_plan& plan);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
