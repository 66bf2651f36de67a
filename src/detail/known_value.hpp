#pragma once

#include <feedline/error.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Refuses an option's value that its enumeration does not have: a cast made it, or it comes from
/// uninitialized memory. @param names The enumeration's values, as text for a user.
[[noreturn]] inline void refuse_unknown(std::string_view option, int value,
                                        std::span<const std::string_view> names) {
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  throw usage_error{std::string{option} + " is " + std::to_string(value) +
                    ", which is not a value of its type: say one of " + known};
}

/// The name of an enumeration's value; the values count from 0 in the names' order.
template <class Enum>
[[nodiscard]] constexpr std::string_view name_in(std::span<const std::string_view> names,
                                                 Enum value) noexcept {
  const auto number = static_cast<std::size_t>(value);
  return number < names.size() ? names[number] : "unknown";
}

/// @param option Its name: "loader_options::placement".
/// @param names Names of the enumeration's values, which count from 0 in this order.
/// @throws usage_error if the value is not one of them.
template <class Enum, class Names = std::initializer_list<std::string_view>>
void require_known(std::string_view option, Enum value, const Names& names) {
  const auto number = static_cast<int>(value);
  if (number < 0 || static_cast<std::size_t>(number) >= names.size())
    refuse_unknown(option, number, {std::data(names), names.size()});
}

inline void require_known(std::string_view option, std::endian value) {
  constexpr std::array<std::string_view, 2> names{"std::endian::little", "std::endian::big"};
  if (value != std::endian::little && value != std::endian::big)
    refuse_unknown(option, static_cast<int>(value), names);
}

}  // namespace feedline::detail
