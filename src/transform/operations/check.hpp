#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>
#include <feedline/transform/augmentation.hpp>

#include "detail/text.hpp"

#include <cstdint>
#include <string>

namespace feedline::detail {

/// A field whose transform is checked.
struct checked_field {
  static constexpr double max_ratio = 1000;

  const field& of;
  std::uint64_t channels = 1;  ///< those of an image before an operation

  /// @param what The member and its value: "flip is 2". @throws usage_error
  [[noreturn]] void refuse(const std::string& what, const std::string& allowed) const {
    throw usage_error{"transform of field '" + of.name + "': " + what + ": " + allowed};
  }

  void in_range(const std::string& member, double value, double least, double most) const {
    if (!(value >= least && value <= most))
      refuse(member + " is " + text_of(value), "say " + text_of(least) + " to " + text_of(most));
  }
  void within(const std::string& member, const value_range& range, double least,
              double most) const {
    if (!(range.low >= least && range.low <= range.high && range.high <= most))
      refuse(member + text_of_range(range),
             "say a range within " + text_of(least) + " to " + text_of(most));
  }
  void area(const std::string& member, const value_range& range) const {
    if (!(range.low > 0 && range.low <= range.high && range.high <= 1))
      refuse(member + text_of_range(range),
             "shares of the image's area, say a range within 0 to 1, above 0");
  }
  void ratio(const std::string& member, const value_range& range) const {
    within(member, range, 1 / max_ratio, max_ratio);
  }
  /// Colours are bytes, grey or red, green and blue.
  void colors(const std::string& member) const {
    if (of.type != element_type::u8 || (channels != 1 && channels != 3))
      refuse(member + " is set and the field is " + to_string(of),
             "colours of uint8 change, in one channel or three");
  }

 private:
  static std::string text_of_range(const value_range& range) {
    return " is " + text_of(range.low) + " to " + text_of(range.high);
  }
};

/// " 0.1 to 0.5", for texts of transforms.
[[nodiscard]] inline std::string range_text(const value_range& range) {
  return ' ' + text_of(range.low) + " to " + text_of(range.high);
}

}  // namespace feedline::detail
