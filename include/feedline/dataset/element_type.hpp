#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#if defined(__STDCPP_FLOAT16_T__) || defined(__STDCPP_BFLOAT16_T__)
#include <stdfloat>
#endif

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The type of one element of a field. Values are stable: they may be written to files.
enum class element_type : std::uint8_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  u64 = 6,
  i64 = 7,
  f16 = 8,   ///< IEEE 754 binary16
  bf16 = 9,  ///< upper half of a binary32
  f32 = 10,
  f64 = 11,
  boolean = 12,  ///< one byte, 0 or 1
};

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_bytes(element_type type) noexcept {
  switch (type) {
    case element_type::u8:
    case element_type::i8:
    case element_type::boolean:
      return 1;
    case element_type::u16:
    case element_type::i16:
    case element_type::f16:
    case element_type::bf16:
      return 2;
    case element_type::u32:
    case element_type::i32:
    case element_type::f32:
      return 4;
    case element_type::u64:
    case element_type::i64:
    case element_type::f64:
      return 8;
  }
  return 0;
}

/// Whether the elements are whole numbers: integers or booleans.
[[nodiscard]] constexpr bool is_whole(element_type type) noexcept {
  return type <= element_type::i64 || type == element_type::boolean;
}

/// NumPy's name of the type: "uint8", "float32", …; "bfloat16", which NumPy does not have.
[[nodiscard]] std::string_view to_string(element_type type) noexcept;

/// Maps a C++ type that is not in C++20 to an element type. Specialize it for types of your own,
/// which must have the element type's size:
///
///     template <>
///     struct feedline::element_traits<my_half> {
///       static constexpr element_type type = element_type::f16;
///     };
///
/// Specializations exist for std::float16_t and std::bfloat16_t if the compiler has them. For
/// CUDA's __half and __nv_bfloat16 include `feedline/cuda/half.hpp`.
template <class T>
struct element_traits {};

#ifdef __STDCPP_FLOAT16_T__
template <>
struct element_traits<std::float16_t> {
  static constexpr element_type type = element_type::f16;
};
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <>
struct element_traits<std::bfloat16_t> {
  static constexpr element_type type = element_type::bf16;
};
#endif

}  // namespace FEEDLINE_ABI
namespace detail {

template <class T>
inline constexpr bool is_integer_element = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
concept has_element_traits = requires {
  requires size_bytes(element_traits<T>::type)
  == sizeof(T);
};

}  // namespace detail
inline namespace FEEDLINE_ABI {

/// A C++ type that corresponds to one element type: an integer of 1 to 8 bytes, float, double,
/// bool, std::byte (as u8), or a type that has `element_traits`.
template <class T>
concept element =
    detail::has_element_traits<std::remove_cv_t<T>> ||
    detail::is_integer_element<std::remove_cv_t<T>> || std::is_same_v < std::remove_cv_t<T>,
float > || std::is_same_v<std::remove_cv_t<T>, double> ||
    std::is_same_v<std::remove_cv_t<T>, bool> || std::is_same_v<std::remove_cv_t<T>, std::byte>;

/// The element type of a C++ type. Integers are mapped by size and sign, so `long` and `long long`
/// are both i64.
template <element T>
[[nodiscard]] constexpr element_type element_type_of() noexcept {
  using U = std::remove_cv_t<T>;
  if constexpr (detail::has_element_traits<U>) return element_traits<U>::type;
  if constexpr (std::is_same_v<U, bool>) return element_type::boolean;
  if constexpr (std::is_same_v<U, std::byte>) return element_type::u8;
  if constexpr (std::is_same_v<U, float>) return element_type::f32;
  if constexpr (std::is_same_v<U, double>) return element_type::f64;
  if constexpr (detail::is_integer_element<U>) {
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? element_type::i8 : element_type::u8;
    if constexpr (sizeof(U) == 2) return is_signed ? element_type::i16 : element_type::u16;
    if constexpr (sizeof(U) == 4) return is_signed ? element_type::i32 : element_type::u32;
    if constexpr (sizeof(U) == 8) return is_signed ? element_type::i64 : element_type::u64;
  }
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
