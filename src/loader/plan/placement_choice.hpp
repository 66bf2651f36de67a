#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/loader/loader_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Where a loader's rows come from, and how many of them are kept on the device.
struct placement_choice {
  feedline::placement placement = feedline::placement::stream;
  std::uint64_t cached_samples = 0;
  std::size_t cache_bytes = 0;
};

/// Chooses as the options say; if they leave it open, by comparing sizes with the budget.
/// @throws usage_error with the numbers, if a placement that was asked for is impossible with this
/// dataset and budget.
/// @param row_bytes Result of `row_bytes_of`.
[[nodiscard]] placement_choice choose_placement(const dataset& dataset,
                                                const device_capabilities& device,
                                                const loader_options& options,
                                                std::span<const std::size_t> row_bytes);

/// Bytes of one sample's rows, for each field; 0 for those that the device makes.
[[nodiscard]] std::vector<std::size_t> row_bytes_of(const dataset& dataset,
                                                    std::span<const made_field> made = {});

}  // namespace feedline::detail
