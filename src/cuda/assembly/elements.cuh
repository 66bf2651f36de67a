#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace feedline::detail {

// Types for elements that C++20 has no types for. Numbers are represented by their own types.
struct f16_word {
  std::uint16_t bits;
};
struct bf16_word {
  std::uint16_t bits;
};
struct boolean_byte {
  std::uint8_t byte;
};

/// Calls `visit` with a value of the type that represents an element type. All threads of a warp
/// give the same element type.
template <class Visit>
__device__ __forceinline__ void visit_element(element_type type, Visit&& visit) {
  switch (type) {
    case element_type::u8:
      return visit(std::uint8_t{});
    case element_type::i8:
      return visit(std::int8_t{});
    case element_type::u16:
      return visit(std::uint16_t{});
    case element_type::i16:
      return visit(std::int16_t{});
    case element_type::u32:
      return visit(std::uint32_t{});
    case element_type::i32:
      return visit(std::int32_t{});
    case element_type::u64:
      return visit(std::uint64_t{});
    case element_type::i64:
      return visit(std::int64_t{});
    case element_type::f16:
      return visit(f16_word{});
    case element_type::bf16:
      return visit(bf16_word{});
    case element_type::f32:
      return visit(float{});
    case element_type::f64:
      return visit(double{});
    case element_type::boolean:
      return visit(boolean_byte{});
  }
}

/// An element as binary32: exactly, or rounded to nearest even.
template <class T>
__device__ float to_float(T value) {
  return static_cast<float>(value);
}
__device__ inline float to_float(f16_word value) {
  return __half2float(__ushort_as_half(value.bits));
}
__device__ inline float to_float(bf16_word value) {
  return __uint_as_float(std::uint32_t{value.bits} << 16);
}
__device__ inline float to_float(boolean_byte value) {
  return value.byte != 0 ? 1.0F : 0.0F;
}

/// Whether the elements that a type represents are integers.
template <class T>
inline constexpr bool is_whole_element = std::is_integral_v<T> || std::is_same_v<T, boolean_byte>;

/// An integer modulo 2^64.
template <class T>
__device__ std::uint64_t to_whole(T value) {
  return static_cast<std::uint64_t>(value);
}
__device__ inline std::uint64_t to_whole(boolean_byte value) {
  return value.byte != 0 ? 1 : 0;
}

/// Stores an integer, truncated to an integer type's bits or as a boolean, as element `index`.
__device__ inline void store_whole(std::byte* to, std::uint32_t index, std::uint64_t value,
                                   element_type type) {
  switch (type) {
    case element_type::boolean:
      reinterpret_cast<std::uint8_t*>(to)[index] = value != 0 ? 1 : 0;
      return;
    case element_type::u8:
    case element_type::i8:
      reinterpret_cast<std::uint8_t*>(to)[index] = static_cast<std::uint8_t>(value);
      return;
    case element_type::u16:
    case element_type::i16:
      reinterpret_cast<std::uint16_t*>(to)[index] = static_cast<std::uint16_t>(value);
      return;
    case element_type::u32:
    case element_type::i32:
      reinterpret_cast<std::uint32_t*>(to)[index] = static_cast<std::uint32_t>(value);
      return;
    default:
      reinterpret_cast<std::uint64_t*>(to)[index] = value;
      return;
  }
}

/// An element as an index. A value that is negative or no integer gives an index larger than any
/// valid one.
template <class T>
__device__ std::uint64_t to_index(T value) {
  if constexpr (is_whole_element<T>)
    return to_whole(value);
  else
    return ~std::uint64_t{0};
}

/// The unsigned integer type of `Bytes` bytes that the GPU loads at once.
template <std::size_t Bytes>
using word_of_bytes = std::tuple_element_t<
    std::countr_zero(Bytes),
    std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, unsigned long long, uint4>>;

/// Loads element `index` of `from`, which no kernel in flight writes.
/// @param aligned Whether it is aligned to its size.
template <class T>
__device__ T load_element(const std::byte* from, std::uint32_t index, bool aligned) {
  using word = word_of_bytes<sizeof(T)>;
  T value;
  if (sizeof(T) == 1 || aligned) {
    const word bits = __ldg(reinterpret_cast<const word*>(from) + index);
    memcpy(&value, &bits, sizeof value);
  } else {
    std::uint8_t bytes[sizeof(T)];
    const auto* const at =
        reinterpret_cast<const std::uint8_t*>(from) + std::size_t{index} * sizeof(T);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = __ldg(at + i);
    memcpy(&value, bytes, sizeof value);
  }
  return value;
}

/// The bits of a value in a 16-bit type.
__device__ inline std::uint16_t to_half_bits(float value, element_type type) {
  return type == element_type::f16 ? __half_as_ushort(__float2half_rn(value))
                                   : __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// Stores a value as element `index`.
__device__ inline void store_element(std::byte* to, std::uint32_t index, float value,
                                     element_type type) {
  if (type == element_type::f32) {
    reinterpret_cast<float*>(to)[index] = value;
  } else {
    reinterpret_cast<std::uint16_t*>(to)[index] = to_half_bits(value, type);
  }
}

/// Two values in a 16-bit type.
__device__ __forceinline__ std::uint32_t to_half_pair(float low, float high, element_type type) {
  std::uint32_t bits = 0;
  if (type == element_type::f16) {
    const __half2 pair = __floats2half2_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  }
  return bits;
}

/// Stores four values from element `index` on, aligned to their size.
__device__ inline void store_group(std::byte* to, std::uint32_t index, const float (&values)[4],
                                   element_type type) {
  if (type == element_type::f32) {
    reinterpret_cast<float4*>(to)[index / 4] =
        make_float4(values[0], values[1], values[2], values[3]);
  } else {
    reinterpret_cast<uint2*>(to)[index / 4] = make_uint2(to_half_pair(values[0], values[1], type),
                                                         to_half_pair(values[2], values[3], type));
  }
}

/// Stores values, a multiple of eight, from element `index` on, aligned to 16 bytes.
template <std::uint32_t Count>
__device__ __forceinline__ void store_wide(std::byte* to, std::uint32_t index,
                                           const float (&values)[Count], element_type type) {
  static_assert(Count % 8 == 0);
  if (type == element_type::f32) {
    auto* const at = reinterpret_cast<float4*>(to) + index / 4;
#pragma unroll
    for (std::uint32_t i = 0; i < Count / 4; ++i)
      at[i] = make_float4(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);
    return;
  }
  auto* const at = reinterpret_cast<uint4*>(to) + index / 8;
#pragma unroll
  for (std::uint32_t i = 0; i < Count / 8; ++i) {
    const auto pair = [&](std::uint32_t of) {
      return to_half_pair(values[8 * i + of], values[8 * i + of + 1], type);
    };
    at[i] = make_uint4(pair(0), pair(2), pair(4), pair(6));
  }
}

}  // namespace feedline::detail
