#pragma once

#include <feedline/device/assembly.hpp>
#include <feedline/device/device.hpp>

#include "device/owned.hpp"
#include "staging/inlet_layout.hpp"
#include "staging/kept_rows.hpp"
#include "staging/slot_layout.hpp"
#include "transfer/batch_stage.hpp"
#include "transfer/carrier.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace feedline::detail {

/// Carries slots that are put together on the device: the staging slot is copied into an inlet, and
/// out of the inlet and the kept rows the device slot is assembled.
///
/// There are several inlets, taken in turns, each with a stream of its own: copies and assemblies of
/// one inlet follow each other, those of the others run beside them, so that assembly hides behind
/// copies, and one assembly's end behind the next one's start. On an inlet's stream:
///
///     copy, record the staging slot's `copied`,
///     wait for the device slot's `released`, and `ready`, which another stream may have to record
///     yet for a slot of an epoch that was left,
///     wait for other inlets' `assembled`: for the last slot that kept rows, which this one may count
///     on; for all, if this one keeps rows, which they may be reading; for the slot before, if there
///     is a user's function, which is to see slots in order,
///     assemble, run the user's function, record `assembled` and the device slot's `ready`
class assembler final : public carrier {
 public:
  /// How many inlets there are.
  static constexpr std::size_t inlets = 4;

  /// What slots look like on their way.
  struct formats {
    slot_layout rows;     ///< as the dataset has them
    slot_layout batches;  ///< as they are assembled
    inlet_layout inlet;
    std::vector<field_program> programs;  ///< one a field
  };

  /// @param kept     Null where no rows are kept.
  /// @param function Null where slots are ready once they are assembled.
  /// @throws out_of_memory, device_error.
  assembler(device_ptr device, formats slots, std::shared_ptr<kept_rows> kept,
            std::unique_ptr<batch_stage> function);
  /// Blocks until no work uses the inlets and the kept rows any more.
  ~assembler() override;

  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;
  [[nodiscard]] bool is_idle() override;
  [[nodiscard]] bool uses_others_memory() const noexcept override;

 private:
  /// Device memory for one staging slot on its way, and the stream on which all work with it stands.
  struct inlet {
    explicit inlet(const device_ptr& device) : order{device}, assembled{device} {}
    std::byte* data = nullptr;
    stream order;
    event assembled;    ///< recorded behind the last work with the inlet
    bool lost = false;  ///< no event stands behind the last work with it
  };

  void copy(staging_slot& from, const inlet& to);
  void wait_for_others(std::uint64_t number, bool keeps, stream_ref stream);
  void assemble(const staging_slot& from, const inlet& through, device_slot& to,
                std::uint64_t samples, bool keeps);
  template <class Visit>
  void visit_rows_to_keep(const staging_slot& slot, std::uint64_t samples, Visit visit) const;

  device_ptr device_;
  formats formats_;
  std::shared_ptr<kept_rows> kept_;
  std::unique_ptr<batch_stage> function_;
  std::vector<field_assembly> fields_;
  device_memory memory_;
  std::vector<std::unique_ptr<inlet>> inlets_;
  std::uint64_t carried_ = 0;            ///< slots
  std::optional<std::uint64_t> keeper_;  ///< the last slot that kept rows
};

}  // namespace feedline::detail
