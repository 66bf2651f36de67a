#include <feedline/error.hpp>

#include "arrays/window_plan.hpp"
#include "detail/half.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace feedline::detail {
namespace {

template <class Value>
std::vector<std::byte> bytes_of(Value value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class Integer>
std::vector<std::byte> integer_of(double value, element_type type, const std::string& field) {
  const double limit = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  const double least = std::numeric_limits<Integer>::is_signed ? -limit : 0.0;
  if (!(value >= least && value < limit) || value != std::trunc(value))
    throw usage_error{"make_windows: pad of field '" + field + "' is " + std::to_string(value) +
                      ", which is not a value of " + std::string{to_string(type)}};
  return bytes_of(static_cast<Integer>(value));
}

}  // namespace

std::vector<std::byte> element_of(double value, element_type type, const std::string& field) {
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
      return bytes_of(to_f16(static_cast<float>(value)));
    case element_type::bf16:
      return bytes_of(to_bf16(static_cast<float>(value)));
    case element_type::f32:
      return bytes_of(static_cast<float>(value));
    case element_type::f64:
      return bytes_of(value);
    case element_type::boolean:
      break;
  }
  return bytes_of(static_cast<std::uint8_t>(value != 0));
}

}  // namespace feedline::detail
