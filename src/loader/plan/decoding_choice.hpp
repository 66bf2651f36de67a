#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sampler.hpp>

#include "loader/plan/slot_memory.hpp"
#include "sampler/epoch_share.hpp"
#include "staging/block_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// Who decodes a dataset's blocks.
struct decoding_choice {
  std::optional<block_plan> blocks;  ///< none: readers decode, if anybody does
  std::string why_not;               ///< the device does not, if that was asked for

  [[nodiscard]] std::size_t loads_bytes() const noexcept {
    return blocks ? blocks->loads_bytes : 0;
  }
  /// Staging memory for what the device tells of decoded blocks, beside the ring: a word for each
  /// device slot, of as many as there may be.
  [[nodiscard]] std::size_t answer_bytes(const loader_options& options) const noexcept;
};

/// Chooses as the options say. The store has no size yet.
/// @param order Bound, of all ranks. @param share Of it. @param where As it was chosen.
[[nodiscard]] decoding_choice choose_decoding(const dataset& dataset, const sampler& order,
                                              const epoch_share& share,
                                              const device_capabilities& device,
                                              const loader_options& options, placement where);

/// Whether the device has decoders for a dataset's blocks.
[[nodiscard]] bool has_decoders_for(const dataset& dataset, const device_capabilities& device);

/// Settles what hangs on the slots' samples, and on how many blocks are loaded ahead.
void size_store(block_plan& blocks, std::uint64_t slot_samples, std::uint64_t ahead) noexcept;
/// The same, with as many blocks ahead as make large groups, or fewer where the options limit
/// memory: at least one.
/// @param sizes Of the loader's slots. @param batches Of a slot.
[[nodiscard]] block_plan sized(block_plan blocks, const dataset& dataset,
                               const device_capabilities& device, const loader_options& options,
                               const slot_memory& sizes, std::uint64_t batches);

/// Device memory of the store, and of decoding, with so many device slots.
struct decoding_bytes {
  std::size_t store = 0;
  std::size_t decoder = 0;
  std::size_t answers = 0;  ///< staging memory
  std::uint64_t rows = 0;   ///< that the store holds
};
/// @param blocks Sized.
[[nodiscard]] decoding_bytes bytes_of(const block_plan& blocks, const dataset& dataset,
                                      const device_capabilities& device, std::size_t slots);
/// Why there may not be so many decoded blocks; empty: there may.
[[nodiscard]] std::string too_many(const decoding_bytes& decoded, const loader_options& options);

}  // namespace feedline::detail
