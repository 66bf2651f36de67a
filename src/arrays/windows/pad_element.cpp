#include <feedline/error.hpp>

#include "arrays/windows/plan.hpp"
#include "detail/half.hpp"
#include "detail/text.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace feedline::detail {
namespace {

template <class Value>
std::vector<std::byte> bytes_of_pad(Value value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

[[noreturn]] void refuse_pad(double value, element_type type, const std::string& field) {
  throw usage_error{"make_windows: pad of field '" + field + "' is " + text_of(value) +
                    ", which is not a value of " + std::string{to_string(type)}};
}

template <class Integer>
std::vector<std::byte> integer_of(double value, element_type type, const std::string& field) {
  const double limit = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  const double least = std::numeric_limits<Integer>::is_signed ? -limit : 0.0;
  if (!(value >= least && value < limit) || value != std::trunc(value))
    refuse_pad(value, type, field);
  return bytes_of_pad(static_cast<Integer>(value));
}

/// @param made The value in its type, in which a finite one may have become infinite.
void require_finite(double value, float made, element_type type, const std::string& field) {
  if (std::isfinite(value) && !std::isfinite(made)) refuse_pad(value, type, field);
}

}  // namespace

std::vector<std::byte> element_of(double value, element_type type, const std::string& field) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case element_type::u8:
      return integer_of<std::uint8_t>(value, type, field);
    case element_type::i8:
      return integer_of<std::int8_t>(value, type, field);
    case element_type::u16:
      return integer_of<std::uint16_t>(value, type, field);
    case element_type::i16:
      return integer_of<std::int16_t>(value, type, field);
    case element_type::u32:
      return integer_of<std::uint32_t>(value, type, field);
    case element_type::i32:
      return integer_of<std::int32_t>(value, type, field);
    case element_type::u64:
      return integer_of<std::uint64_t>(value, type, field);
    case element_type::i64:
      return integer_of<std::int64_t>(value, type, field);
    case element_type::f16:
      require_finite(value, from_f16(to_f16(single)), type, field);
      return bytes_of_pad(to_f16(single));
    case element_type::bf16:
      require_finite(value, from_bf16(to_bf16(single)), type, field);
      return bytes_of_pad(to_bf16(single));
    case element_type::f32:
      require_finite(value, single, type, field);
      return bytes_of_pad(single);
    case element_type::f64:
      return bytes_of_pad(value);
    case element_type::boolean:
      break;
  }
  if (value != 0 && value != 1) refuse_pad(value, type, field);
  return bytes_of_pad(static_cast<std::uint8_t>(value));
}

}  // namespace feedline::detail
