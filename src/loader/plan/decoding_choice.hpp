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

/// The decision where a dataset's blocks are decoded.
struct decoding_choice {
  std::optional<block_plan> blocks;  ///< none: readers decode, if anything is encoded
  std::string why_not;               ///< why the device does not, if that was asked for

  [[nodiscard]] std::size_t loads_bytes() const noexcept {
    return blocks ? blocks->loads_bytes : 0;
  }
  /// Staging memory for the device's reports about decoded blocks, beside the ring: a word for each
  /// device slot, up to the largest possible number.
  [[nodiscard]] std::size_t answer_bytes(const loader_options& options) const noexcept;
};

/// Chooses as the options say. The store is not sized yet.
/// @param order Bound, over all ranks. @param share This rank's part of it. @param where The chosen
/// placement.
[[nodiscard]] decoding_choice choose_decoding(const dataset& dataset, const sampler& order,
                                              const epoch_share& share,
                                              const device_capabilities& device,
                                              const loader_options& options, placement where);

/// Whether the device has decoders for a dataset's blocks.
[[nodiscard]] bool has_decoders_for(const dataset& dataset, const device_capabilities& device);

/// Sets the sizes that depend on the slots' samples, and on how many blocks are loaded ahead.
void size_store(block_plan& blocks, std::uint64_t slot_samples, std::uint64_t ahead) noexcept;
/// The same, with enough blocks ahead to make large groups, or fewer if the options limit memory:
/// at least one.
/// @param sizes Memory of the loader's slots. @param batches Batches of a slot.
[[nodiscard]] block_plan sized(block_plan blocks, const dataset& dataset,
                               const device_capabilities& device, const loader_options& options,
                               const slot_memory& sizes, std::uint64_t batches);

/// Device memory of the store, and of decoding, with a number of device slots.
struct decoding_bytes {
  std::size_t store = 0;
  std::size_t decoder = 0;
  std::size_t answers = 0;  ///< staging memory for the device's reports
  std::uint64_t rows = 0;   ///< rows that the store holds
};
/// @param blocks Sized.
[[nodiscard]] decoding_bytes bytes_of(const block_plan& blocks, const dataset& dataset,
                                      const device_capabilities& device, std::size_t slots);
/// Why this many decoded blocks are too many; empty: they are not.
[[nodiscard]] std::string too_many(const decoding_bytes& decoded, const loader_options& options);

}  // namespace feedline::detail
