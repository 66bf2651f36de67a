#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/backend/device.hpp>
#include <feedline/batch/batch_transform.hpp>

#include "device/owned.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/slot_transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Runs a user's function on a slot's batches, from its own memory into the device slot. It has
/// memory for one slot: all work on it is on one stream. Threads: the transfer's.
class batch_stage {
 public:
  /// @param in  Layout of the assembled slot. @param out Layout that the consumer sees.
  /// @throws out_of_memory, device_error.
  batch_stage(const device_ptr& device, batch_transform function, slot_layout in, slot_layout out)
      : transform_{std::move(function)},
        in_{std::move(in)},
        out_{std::move(out)},
        memory_{device, memory_kind::device, in_.slot_bytes()} {}

  /// Address to assemble the slot at.
  [[nodiscard]] std::byte* input() const noexcept { return memory_.data(); }
  /// Calls the function for each batch of a ticket's first `samples`, to write into device memory.
  /// @throws batch_failure with what it throws.
  void run(std::byte* slot, const slot_work& work, std::uint64_t samples, stream_ref stream);
  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

 private:
  batch_transform transform_;
  slot_layout in_;
  slot_layout out_;
  device_memory memory_;
  std::vector<tensor_view> views_;
  std::vector<std::span<std::byte>> spans_;
};

/// Moves slots that are assembled on the device: the staging slot is copied into a device buffer,
/// and the device slot is assembled from that buffer and the cached rows.
///
/// There are several such buffers, used in turn. Copies into them are on one stream, so a copy
/// waits for no assembly except the last one from its own buffer:
///
///     wait for the buffer's `assembled`, copy, record the staging slot's `copied`
///
/// Each buffer has a stream for assemblies, so that the end of one overlaps the start of the next.
/// If the rows come by copies, which take longer, all assemblies use the first of these streams.
/// They also do if other long work fills the device. On an assembly's stream:
///
///     wait for the staging slot's `copied`,
///     wait for the device slot's `released`,
///     wait for the device slot's `ready`, which another stream may have to record yet, for a
///     slot of an epoch that was left, or for the piece of the batch before this one,
///     wait for other buffers' `assembled`: for the last slot that cached rows, which this
///     one may count on; for all, if this one keeps rows, which they may be reading; for the slot
///     before, if there is a user's function, which is to see slots in order, assemble, run the
///     user's function, record `assembled` and the device slot's `ready`
class assembling_transfer : public slot_transfer {
 public:
  /// Number of these buffers.
  static constexpr std::size_t copy_destinations = 4;

  /// The forms of slots in flight.
  struct formats {
    slot_layout rows;     ///< layout of the dataset's rows
    slot_layout batches;  ///< layout when assembled
    destination_layout copy_destination;
    std::vector<field_conversion> conversions;  ///< one a field
    std::optional<pair_mixing> mixing = {};     ///< empty: samples are not mixed
    std::uint64_t seed = 0;                     ///< seed of the mixing
  };

  /// The streams that assemblies use.
  enum class assembly_streams : std::uint8_t {
    automatic,   ///< depends on where rows come from
    one_urgent,  ///< one of high priority: other work fills the device for milliseconds, and an
                 ///< assembly takes microseconds
  };

  /// @param cached   Null where no rows are cached.
  /// @param function Null where slots are ready once they are assembled.
  /// @throws out_of_memory, device_error.
  assembling_transfer(device_ptr device, formats slots, std::shared_ptr<device_row_cache> cached,
                      std::unique_ptr<batch_stage> function,
                      assembly_streams streams = assembly_streams::automatic);
  /// Blocks until no work uses the buffers and the cached rows any more.
  ~assembling_transfer() override;

  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;
  [[nodiscard]] bool is_idle() override;
  [[nodiscard]] bool uses_others_memory() const noexcept override;

 protected:
  [[nodiscard]] feedline::device& device() noexcept { return *device_; }
  /// The stream of copies.
  [[nodiscard]] stream_ref copying() const noexcept { return copy_stream_.get(); }
  /// Recorded after the last assembly; none: there is none.
  [[nodiscard]] event_handle last_assembled() const noexcept {
    return carried_ == 0 ? event_handle::none
                         : copy_destinations_[(carried_ - 1) % copy_destinations]->assembled.get();
  }
  /// Blocks until no assembly is in flight; false if that cannot be known.
  [[nodiscard]] bool sync_before_freeing() noexcept;
  /// Work may use the memory forever: it is never freed.
  void lose() noexcept { lost_ = true; }

 private:
  /// Issues what comes between a slot's copy and its assembly. @throws device_error
  virtual void before_assembly(const staging_slot& /*from*/, const std::byte* /*copy_destination*/,
                               std::uint64_t /*samples*/, stream_ref /*stream*/) {}

  /// Device memory that one staging slot is copied to.
  struct copy_destination {
    copy_destination(const device_ptr& device, assembly_streams streams)
        : own{streams == assembly_streams::one_urgent ? stream{device, high_priority}
                                                      : stream{device}},
          assembled{device} {}
    std::byte* data = nullptr;
    stream own;         ///< used by assemblies in turn
    event assembled;    ///< recorded after the last work with this buffer
    bool lost = false;  ///< no event follows the last work with it
  };

  void wait_for_others(std::uint64_t number, bool keeps, stream_ref stream);
  /// Describes the fields of the batch, or batches, after the slot's first samples.
  void set_fields(const staging_slot& from, const copy_destination& through, std::uint64_t done);
  void assemble(const staging_slot& from, const copy_destination& through, device_slot& to,
                std::uint64_t samples, bool keeps, stream_ref stream);
  template <class Visit>
  void visit_rows_to_keep(const staging_slot& slot, std::uint64_t samples, Visit visit) const;

  device_ptr device_;
  formats formats_;
  std::shared_ptr<device_row_cache> cached_;
  std::unique_ptr<batch_stage> batch_stage_;
  bool takes_turns_;                    ///< assemblies use the buffers' streams in turn
  std::vector<field_assembly> fields_;  ///< `to_offset` of each field: for the rows of the current
                                        ///< piece
  device_memory memory_;
  stream copy_stream_;
  std::vector<std::unique_ptr<copy_destination>> copy_destinations_;
  std::uint64_t carried_ = 0;            ///< number of slots
  std::uint64_t ticket_samples_ = 0;     ///< samples of the current ticket that are assembled
  std::optional<std::uint64_t> keeper_;  ///< number of the last slot that cached rows
  std::optional<bool> done_ = {};        ///< result of `sync_before_freeing`
  bool lost_ = false;
};

}  // namespace feedline::detail
