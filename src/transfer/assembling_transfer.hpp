#pragma once

#include <feedline/device/assembly.hpp>
#include <feedline/device/device.hpp>
#include <feedline/transform/batch_transform.hpp>

#include "device/owned.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/decoding_stage.hpp"
#include "transfer/slot_transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Runs a user's function over a slot's batches, from memory of its own into the device slot. Its
/// memory is one slot: all work on it stands on one stream. Threads: the transfer's.
class batch_stage {
 public:
  /// @param in  The slot as it is assembled. @param out As the consumer sees it.
  /// @throws out_of_memory, device_error.
  batch_stage(const device_ptr& device, batch_transform function, slot_layout in, slot_layout out)
      : transform_{std::move(function)},
        in_{std::move(in)},
        out_{std::move(out)},
        memory_{device, memory_kind::device, in_.slot_bytes()} {}

  /// Where the slot is to be assembled.
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

/// Carries slots that are put together on the device: the staging slot is copied into a landing
/// buffer, and out of the landing buffer and the cached rows the device slot is assembled.
///
/// There are several landing buffers, taken in turns. Copies into them stand on one stream, so none
/// waits for an assembly but the last one out of its own buffer:
///
///     wait for the landing buffer's `assembled`, copy, record the staging slot's `copied`
///
/// Each landing buffer has a stream for assemblies, so that one's end hides behind the next one's
/// start. All assemblies keep to the first of these streams where the rows come by copies, which
/// take longer. On an assembly's stream:
///
///     wait for the staging slot's `copied`,
///     wait for the device slot's `released`,
///     wait for the device slot's `ready`, which another stream may have to record yet, for a
///     slot of an epoch that was left, or for the piece of the batch before this one,
///     wait for other landing buffers' `assembled`: for the last slot that cached rows, which this
///     one may count on; for all, if this one keeps rows, which they may be reading; for the slot
///     before, if there is a user's function, which is to see slots in order, assemble, run the
///     user's function, record `assembled` and the device slot's `ready`
///
/// Where blocks are decoded they go past the landing buffers: `decoding_stage` takes them, and says
/// what an assembly waits for. All assemblies keep to one stream then, of high priority: what
/// decodes fills the device for milliseconds, and an assembly takes microseconds.
class assembling_transfer final : public slot_transfer {
 public:
  /// How many landing buffers there are.
  static constexpr std::size_t landing_buffers = 4;

  /// What slots look like on their way.
  struct formats {
    slot_layout rows;     ///< as the dataset has them
    slot_layout batches;  ///< as they are assembled
    landing_layout landing_buffer;
    std::vector<field_conversion> conversions;  ///< one a field
    std::optional<pair_mixing> mixing = {};     ///< empty: samples are not mixed
  };

  /// @param cached     Null where no rows are cached.
  /// @param function Null where slots are ready once they are assembled.
  /// @param decoding Null where no blocks are decoded; else into `cached`.
  /// @throws out_of_memory, device_error.
  assembling_transfer(device_ptr device, formats slots, std::shared_ptr<device_row_cache> cached,
                      std::unique_ptr<batch_stage> function,
                      std::unique_ptr<decoding_stage> decoding = nullptr);
  /// Blocks until no work uses the landing buffers and the cached rows any more.
  ~assembling_transfer() override;

  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;
  void carry_blocks(staging_slot& from) override;
  [[nodiscard]] bool is_idle() override;
  [[nodiscard]] bool uses_others_memory() const noexcept override;

 private:
  /// Device memory for one staging slot on its way.
  struct landing_buffer {
    explicit landing_buffer(const device_ptr& device) : own{device}, assembled{device} {}
    landing_buffer(const device_ptr& device, high_priority_t urgent)
        : own{device, urgent}, assembled{device} {}
    std::byte* data = nullptr;
    stream own;         ///< of assemblies that take turns
    event assembled;    ///< recorded behind the last work with the landing buffer
    bool lost = false;  ///< no event stands behind the last work with it
  };

  void wait_for_others(std::uint64_t number, bool keeps, stream_ref stream);
  void assemble(const staging_slot& from, const landing_buffer& through, device_slot& to,
                std::uint64_t samples, bool keeps, stream_ref stream);
  template <class Visit>
  void visit_rows_to_keep(const staging_slot& slot, std::uint64_t samples, Visit visit) const;

  device_ptr device_;
  formats formats_;
  std::shared_ptr<device_row_cache> cached_;
  std::unique_ptr<batch_stage> batch_stage_;
  std::unique_ptr<decoding_stage> decoding_;
  std::vector<field_assembly> fields_;  ///< `to_offset`: of the rows of the piece at hand
  device_memory memory_;
  stream copy_stream_;
  std::vector<std::unique_ptr<landing_buffer>> landing_buffers_;
  std::uint64_t carried_ = 0;            ///< slots
  std::uint64_t ticket_samples_ = 0;     ///< assembled of the ticket at hand
  std::optional<std::uint64_t> keeper_;  ///< the last slot that cached rows
};

}  // namespace feedline::detail
