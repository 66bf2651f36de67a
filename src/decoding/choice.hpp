#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>

#include "decoding/block_plan.hpp"
#include "sampler/rank_order.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// The decision where a dataset's blocks are decoded.
struct decoding_choice {
  std::optional<block_plan> blocks;  ///< none: readers decode, if anything is encoded
  /// Why the device does not, if that was asked for; or why it does only a part.
  std::string why_not;
  std::vector<std::string> fields = {};  ///< those that the device decodes

  [[nodiscard]] std::size_t loads_bytes() const noexcept {
    return blocks ? blocks->loads_bytes : 0;
  }
  /// Staging memory for the device's reports about decoded blocks, beside the ring: a word for each
  /// device slot.
  [[nodiscard]] std::size_t answer_bytes(std::size_t device_slots) const noexcept;
};

/// Chooses as the options say. The store is not sized yet.
/// @param where The chosen placement. @param row_bytes Bytes of one sample's rows, for each field.
/// @param piece_bytes Usual bytes of a staging slot.
[[nodiscard]] decoding_choice choose_decoding(const dataset& dataset, const shared_order& order,
                                              const device_capabilities& device,
                                              const loader_options& options, placement where,
                                              std::span<const std::size_t> row_bytes,
                                              std::size_t piece_bytes);

/// Whether the device has decoders for a dataset's blocks.
[[nodiscard]] bool has_decoders_for(const dataset& dataset, const device_capabilities& device);

/// Sets the sizes that depend on the slots' samples, and on how many blocks are loaded ahead.
void size_store(block_plan& blocks, std::uint64_t slot_samples, std::uint64_t ahead);

/// Limits of device memory, in bytes; 0: none.
struct decoding_limits {
  std::size_t store = 0;    ///< decoded rows
  std::size_t decoder = 0;  ///< arriving blocks, and decoders
};
/// Decoding leaves half of its budget to slots, and in any case room for the fewest of them.
/// @param slots Bytes of the fewest device slots; empty: more than 64 bits hold.
/// @param destination Bytes of the buffers that staging slots are copied to.
[[nodiscard]] decoding_limits limits_of(const loader_options& options,
                                        std::optional<std::size_t> slots, std::size_t destination);
/// Sets all sizes, with enough blocks ahead to make large groups, or fewer if memory is limited: at
/// least one.
[[nodiscard]] block_plan sized(block_plan blocks, std::span<const std::size_t> row_bytes,
                               const device_capabilities& device, const decoding_limits& limits,
                               std::uint64_t slot_samples);

/// Device memory of the store, and of decoding, with a number of device slots.
struct decoding_bytes {
  std::size_t store = 0;
  std::size_t decoder = 0;
  std::size_t answers = 0;  ///< staging memory for the device's reports
  std::uint64_t rows = 0;   ///< rows that the store holds
};
/// @param blocks Sized.
[[nodiscard]] decoding_bytes bytes_of(const block_plan& blocks,
                                      std::span<const std::size_t> row_bytes,
                                      const device_capabilities& device, std::size_t slots);
/// Why this many decoded blocks are too many; empty: they are not.
[[nodiscard]] std::string too_many(const decoding_bytes& decoded, const loader_options& options);

}  // namespace feedline::detail
