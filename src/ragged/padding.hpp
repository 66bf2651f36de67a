#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// The length of padded samples. @param who Begins the message: "pad".
/// @throws usage_error if it is 0, or more than NAME_length can tell.
[[nodiscard]] std::uint64_t checked_length(const std::string& who, std::uint64_t length);

/// The message about a sample that is longer.
[[nodiscard]] std::string too_long(std::uint64_t count, std::uint64_t length);

}  // namespace feedline::detail
