#include "formats/table/table_value.hpp"

#include "dataset/label_type.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace feedline::detail {
namespace {

/// From here on a double does not hold all whole numbers, so a text with a fraction or an exponent
/// may have been rounded to another one.
constexpr double least_rounded = 0x1p53;

template <class T>
void store_value(T value, std::byte* out) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
bool store_whole(const table_number& number, std::byte* out) {
  const bool fits = std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
          return value == std::trunc(value) && std::abs(value) < least_rounded && value < end &&
                 value >= (std::is_signed_v<T> ? -end : 0.0);
        } else {
          return std::in_range<T>(value);
        }
      },
      number);
  if (fits) store_value(std::visit([](auto value) { return static_cast<T>(value); }, number), out);
  return fits;
}

double as_double(const table_number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

bool store_number(const table_number& number, element_type type, std::byte* out) {
  if (type == element_type::f64) {
    store_value(as_double(number), out);
    return true;
  }
  if (type == element_type::f32) {
    const double value = as_double(number);
    const bool fits =
        !std::isfinite(value) || std::abs(value) <= double{std::numeric_limits<float>::max()};
    if (fits) store_value(static_cast<float>(value), out);
    return fits;
  }
  if (type == element_type::boolean) {
    const double value = as_double(number);
    store_value(static_cast<std::uint8_t>(value == 1.0), out);
    return value == 0.0 || value == 1.0;
  }
  return with_integer(type, [&](auto zero) { return store_whole<decltype(zero)>(number, out); });
}

}  // namespace

std::string_view words_of(value_kind kind) {
  switch (kind) {
    case value_kind::none:
      return "nothing";
    case value_kind::boolean:
      return "true or false";
    case value_kind::whole:
    case value_kind::real:
      return "a number";
    case value_kind::text:
      return "a text";
  }
  return "nothing";
}

std::string words_of(const table_number& number) {
  return std::visit(
      [](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), double>)
          return text_of(value);
        else
          return std::to_string(value);
      },
      number);
}

bool is_exact_as_double(const table_number& number) noexcept {
  return std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return true;
        } else {
          const auto bits = static_cast<std::uint64_t>(value);
          const std::uint64_t size = std::cmp_less(value, 0) ? 0 - bits : bits;
          constexpr std::uint64_t end = std::uint64_t{1} << 53;
          return size < end || size >> std::countr_zero(size) < end;
        }
      },
      number);
}

std::string write_number(const table_number& number, element_type type, std::byte* out) {
  if (store_number(number, type, out)) return {};
  const auto* const real = std::get_if<double>(&number);
  const bool may_be_rounded = size_bytes(type) == 8 && real != nullptr && std::isfinite(*real) &&
                              *real == std::trunc(*real) && std::abs(*real) >= least_rounded;
  return "is " + words_of(number) +
         (may_be_rounded ? ", which was rounded if it has more digits: write it without a fraction "
                           "and an exponent"
                         : ", which " + std::string{to_string(type)} + " cannot hold");
}

bool is_utf8(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    if (lead < 0xc2 || lead > 0xf4) return false;
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const unsigned second = at(i + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
      return false;
    for (std::size_t k = 1; k < bytes; ++k)
      if ((at(i + k) & 0xc0U) != 0x80) return false;
    i += bytes;
  }
  return true;
}

}  // namespace feedline::detail
