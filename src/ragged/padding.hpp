#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Fills the room that no element takes.
class padding {
 public:
  /// @param who Begins the message: "pad".
  /// @throws usage_error if it is not a value of the element's type.
  padding(std::string_view who, const field& element, const padding_value& value);

  /// @param room A whole number of elements; may be empty.
  void fill(std::span<std::byte> room) const noexcept;

 private:
  std::vector<std::byte> pattern_;  ///< never empty
};

/// The field of `count` consecutive elements.
[[nodiscard]] field field_of(const field& element, std::uint64_t count);

}  // namespace feedline::detail
