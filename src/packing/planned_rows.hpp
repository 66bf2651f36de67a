#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/ragged/dataset.hpp>

#include "ragged/padding.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// A ragged field, and how its rows are.
struct packed_column {
  ragged_dataset_ptr of;
  field element;
  std::size_t element_bytes = 0;
  std::uint64_t capacity = 0;
  detail::padding padding;
};

/// The rows that a plan fills with samples of ragged fields, all of one number of samples.
/// @param columns At least one. @param options Valid.
/// @throws dataset_error and usage_error as `pack_together`.
[[nodiscard]] std::shared_ptr<const packed_dataset> make_planned_rows(
    std::vector<packed_column> columns, const pack_together_options& options);

/// The name of an option in messages.
[[nodiscard]] inline std::string pack_option(const char* name) {
  return "pack_together_options::" + std::string{name};
}

}  // namespace feedline::detail
