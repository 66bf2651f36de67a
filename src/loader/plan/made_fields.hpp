#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/loader/loader_options.hpp>

#include "transform/field_conversions.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// The fields of a dataset that the device makes from others.
struct made_choice {
  std::vector<made_field> fields = {};  ///< empty: none
  std::string why_not = {};  ///< why readers make some that a device could; empty if none
};

/// Chooses all that the device can make, except those whose rows the host needs.
/// @throws usage_error if the dataset's fields are not what its `made_fields` says.
[[nodiscard]] made_choice choose_made_fields(const dataset& dataset,
                                             const device_capabilities& device,
                                             const loader_options& options);

/// For each of so many fields, whether the device makes it; empty if it makes none.
[[nodiscard]] std::vector<bool> places_of(std::span<const made_field> made, std::size_t fields);

/// Makes the fields' conversions, which are copies, those that the device makes them by.
void convert_made(converted_fields& converted, std::span<const made_field> made);

}  // namespace feedline::detail
