#pragma once

#include "decoding/stage.hpp"
#include "transfer/assembling_transfer.hpp"

#include <cstdint>
#include <exception>
#include <memory>

namespace feedline::detail {

/// Moves slots whose rows the device decodes: a slot's blocks go to the decoding stage, and the
/// device slot is assembled from decoded rows. Threads: the transfer's.
class decoded_transfer final : public assembling_transfer {
 public:
  /// @param store    Memory of the decoded rows. @param function Null: slots are ready once they
  /// are assembled.
  /// @param decoding Decodes into `store`.
  /// @throws out_of_memory, device_error.
  decoded_transfer(const device_ptr& device, formats slots, std::shared_ptr<device_row_cache> store,
                   std::unique_ptr<batch_stage> function, std::unique_ptr<decoding_stage> decoding)
      : assembling_transfer{device, std::move(slots), std::move(store), std::move(function),
                            assembly_streams::one_urgent},
        decoding_{std::move(decoding)} {}
  /// Blocks until no work uses the memory of decoding any more.
  ~decoded_transfer() override;

  /// After blocks of an epoch pass could not be moved, fails for each further slot of it: some of
  /// its samples would miss their blocks.
  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;
  void carry_blocks(staging_slot& from) override;
  [[nodiscard]] bool is_idle() override;

 private:
  void before_assembly(const staging_slot& from, const std::byte* destination,
                       std::uint64_t samples, stream_ref stream) override;

  std::unique_ptr<decoding_stage> decoding_;
  std::exception_ptr failed_;  ///< why blocks of the pass could not be moved
};

}  // namespace feedline::detail
