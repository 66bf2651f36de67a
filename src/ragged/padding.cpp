#include "ragged/padding.hpp"

#include <feedline/error.hpp>

#include "dataset/label_type.hpp"
#include "detail/half.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(T value) {
  bytes all(sizeof value);
  std::memcpy(all.data(), &value, sizeof value);
  return all;
}

/// The number in a whole type, if it is one of its values.
std::optional<bytes> as_element(std::int64_t number, element_type type) {
  if (type == element_type::boolean) {
    if (number != 0 && number != 1) return std::nullopt;
    return bytes_of(static_cast<std::uint8_t>(number));
  }
  return with_integer(type, [number](auto zero) -> std::optional<bytes> {
    if (!std::in_range<decltype(zero)>(number)) return std::nullopt;
    return bytes_of(static_cast<decltype(zero)>(number));
  });
}

/// The number in any type, if that can hold one so large and, of whole types, has it.
std::optional<bytes> as_element(double number, element_type type) {
  if (type == element_type::f64) return bytes_of(number);
  if (is_whole(type)) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(number >= -limit && number < limit) || number != std::trunc(number)) return std::nullopt;
    return as_element(static_cast<std::int64_t>(number), type);
  }
  const bool is_finite = std::isfinite(number);
  if (is_finite && std::abs(number) > double{std::numeric_limits<float>::max()})
    return std::nullopt;
  const auto single = static_cast<float>(number);
  if (type == element_type::f32) return bytes_of(single);
  const std::uint16_t half = type == element_type::f16 ? to_f16(single) : to_bf16(single);
  const float back = type == element_type::f16 ? from_f16(half) : from_bf16(half);
  if (is_finite && !std::isfinite(back)) return std::nullopt;
  return bytes_of(half);
}

/// The bytes to repeat; whether they suit the element is for the caller to see.
struct to_pattern {
  const field& element;

  std::optional<bytes> operator()(std::int64_t number) const {
    return is_whole(element.type) ? as_element(number, element.type)
                                  : as_element(static_cast<double>(number), element.type);
  }
  std::optional<bytes> operator()(double number) const { return as_element(number, element.type); }
  std::optional<bytes> operator()(const bytes& given) const {
    if (given.size() != size_bytes(element.type) && given.size() != sample_bytes(element))
      return std::nullopt;
    return given;
  }
};

struct to_text {
  std::string operator()(const bytes& given) const {
    return "of " + std::to_string(given.size()) + " bytes";
  }
  template <class Number>
  std::string operator()(Number number) const {
    std::ostringstream text;
    text << number;
    return text.str();
  }
};

}  // namespace

padding::padding(std::string_view who, const field& element, const padding_value& value) {
  auto pattern = std::visit(to_pattern{element}, value);
  if (!pattern)
    throw usage_error{std::string{who} + ": the padding value " + std::visit(to_text{}, value) +
                      " is no value of field " + to_string(element)};
  pattern_ = std::move(*pattern);
  // Of one repeated byte, one is enough: it can be set, and need not be copied.
  if (std::all_of(pattern_.begin(), pattern_.end(),
                  [&](std::byte each) { return each == pattern_[0]; }))
    pattern_.resize(1);
}

void padding::fill(std::span<std::byte> room) const noexcept {
  if (room.empty()) return;
  if (pattern_.size() == 1)
    std::memset(room.data(), std::to_integer<int>(pattern_[0]), room.size());
  else
    repeat_element(pattern_, room);
}

field field_of(const field& element, std::uint64_t count) {
  field several = element;
  several.shape.insert(several.shape.begin(), count);
  return several;
}

}  // namespace feedline::detail
