#include "formats/zarr/codecs.hpp"
#include "hdf5/filter/undo.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace feedline::detail {
namespace {

/// Calls a function with a value of the type. @throws hdf5_filter_error if it is not counted.
template <class Function>
auto with_type(element_type type, Function function) {
  switch (type) {
    case element_type::u8:
      return function(std::uint8_t{});
    case element_type::i8:
      return function(std::int8_t{});
    case element_type::u16:
      return function(std::uint16_t{});
    case element_type::i16:
      return function(std::int16_t{});
    case element_type::u32:
      return function(std::uint32_t{});
    case element_type::i32:
      return function(std::int32_t{});
    case element_type::u64:
      return function(std::uint64_t{});
    case element_type::i64:
      return function(std::int64_t{});
    case element_type::f32:
      return function(float{});
    case element_type::f64:
      return function(double{});
    default:
      throw hdf5_filter_error{"is of a type that cannot be added"};
  }
}

/// Bytes that come out. @throws hdf5_filter_error
std::size_t decoded_bytes(std::span<const std::byte> bytes, std::size_t stored, std::size_t to,
                          std::size_t room) {
  const std::size_t decoded = bytes.size() / stored * to;
  if (bytes.size() % stored != 0)
    throw hdf5_filter_error{std::to_string(bytes.size()) + " bytes are not whole elements of " +
                            std::to_string(stored)};
  if (decoded > room) fail_for_more_than(room);
  return decoded;
}

/// Sums wrap around, as those of unsigned numbers do.
template <class T>
T sum(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(static_cast<word>(a) + static_cast<word>(b)));
  }
}

}  // namespace

bool is_counted(element_type type) noexcept {
  return type != element_type::boolean && type != element_type::f16 && type != element_type::bf16;
}

std::size_t undo_delta(element_type to, element_type stored, std::span<const std::byte> bytes,
                       std::span<std::byte> out) {
  const std::size_t decoded = decoded_bytes(bytes, size_bytes(stored), size_bytes(to), out.size());
  with_type(to, [&]<class To>(To) {
    with_type(stored, [&]<class Stored>(Stored) {
      To total{};
      for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
        Stored step;
        std::memcpy(&step, bytes.data() + i * sizeof step, sizeof step);
        if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Stored>)
          throw hdf5_filter_error{"has floating-point differences of integers"};
        else
          total = i == 0 ? static_cast<To>(step) : sum(total, static_cast<To>(step));
        std::memcpy(out.data() + i * sizeof total, &total, sizeof total);
      }
    });
  });
  return decoded;
}

std::size_t undo_fixed_scale_offset(element_type to, element_type stored, double scale,
                                    double offset, std::span<const std::byte> bytes,
                                    std::span<std::byte> out) {
  const std::size_t decoded = decoded_bytes(bytes, size_bytes(stored), size_bytes(to), out.size());
  with_type(stored, [&]<class Stored>(Stored) {
    using real = std::conditional_t<std::is_same_v<Stored, float>, float, double>;
    for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
      Stored value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      const real scaled =
          static_cast<real>(value) / static_cast<real>(scale) + static_cast<real>(offset);
      if (to == element_type::f32) {
        const auto single = static_cast<float>(scaled);
        std::memcpy(out.data() + i * sizeof single, &single, sizeof single);
      } else {
        const auto wide = static_cast<double>(scaled);
        std::memcpy(out.data() + i * sizeof wide, &wide, sizeof wide);
      }
    }
  });
  return decoded;
}

}  // namespace feedline::detail
