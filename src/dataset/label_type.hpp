#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace feedline::detail {

/// Calls `call` with a value of the integer type that an element type stands for.
/// @throws usage_error if it is not a type of labels.
template <class Call>
decltype(auto) with_integer(element_type type, const Call& call) {
  using enum element_type;
  if (type == u8) return call(std::uint8_t{});
  if (type == i8) return call(std::int8_t{});
  if (type == u16) return call(std::uint16_t{});
  if (type == i16) return call(std::int16_t{});
  if (type == u32) return call(std::uint32_t{});
  if (type == i32) return call(std::int32_t{});
  if (type == u64) return call(std::uint64_t{});
  if (type == i64) return call(std::int64_t{});
  throw usage_error{"labels are integers, not " + std::string{to_string(type)}};
}

/// At most 2^63 - 1, so that one more is a number too.
[[nodiscard]] inline std::uint64_t largest_label(element_type type) {
  return with_integer(type, [](auto zero) {
    return std::min<std::uint64_t>(std::numeric_limits<decltype(zero)>::max(),
                                   std::numeric_limits<std::int64_t>::max());
  });
}

/// @param label At most `largest_label(type)`. @param out The number of bytes that the type has.
inline void write_label(std::uint64_t label, element_type type, std::span<std::byte> out) {
  with_integer(type, [&](auto zero) {
    const auto value = static_cast<decltype(zero)>(label);
    std::memcpy(out.data(), &value, sizeof value);
  });
}

}  // namespace feedline::detail
