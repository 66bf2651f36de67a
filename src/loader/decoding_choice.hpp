#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sampler.hpp>

#include "staging/block_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Who decodes a dataset's blocks.
struct decoding_choice {
  std::optional<block_plan> blocks;  ///< none: readers decode, if anybody does
  std::string why_not;               ///< the device does not, if that was asked for

  [[nodiscard]] std::size_t loads_bytes() const noexcept {
    return blocks ? blocks->loads_bytes : 0;
  }
};

/// Chooses as the options say. The store has no size yet.
/// @param order Bound. @param where As it was chosen.
[[nodiscard]] decoding_choice choose_decoding(const dataset& dataset, const sampler& order,
                                              const device_capabilities& device,
                                              const loader_options& options, placement where);

/// Gives the store its places, for slots of so many samples.
void size_store(block_plan& blocks, std::uint64_t slot_samples) noexcept;

/// Bytes of one sample's rows, for each field.
[[nodiscard]] std::vector<std::size_t> row_bytes_of(const dataset& dataset);

/// Device memory of the store, and of decoding, for slots of so many samples in so many slots.
struct decoding_bytes {
  std::size_t store = 0;
  std::size_t decoder = 0;
  std::uint64_t rows = 0;  ///< that the store holds
};
[[nodiscard]] decoding_bytes bytes_of(block_plan blocks, const dataset& dataset,
                                      const device_capabilities& device, std::uint64_t slot_samples,
                                      std::size_t slots);
/// Why there may not be so many decoded blocks; empty: there may.
[[nodiscard]] std::string too_many(const decoding_bytes& decoded, const loader_options& options);

}  // namespace feedline::detail
