#include "detail/byte_order.hpp"
#include "hdf5/filter/input.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Indices in the filter's client data. (HDF5 File Format Specification 3.0, IV.A.2.l)
enum parameter : std::size_t {
  scale_type = 0,
  scale_factor =
      1,  ///< decimal digits of floating-point numbers; bits of integers, 0: as many as needed
  elements = 2,
  number_class = 3,
  number_bytes = 4,
  byte_order = 6,
  has_fill = 7,
  first_fill_word = 8,  ///< the fill value's bytes, least significant first
  parameter_count = 20,
};

constexpr unsigned decimal_scale = 0;
constexpr unsigned integer_scale = 2;
constexpr unsigned integer_class = 0;
constexpr unsigned big_endian_order = 1;
constexpr unsigned bits_per_byte = 8;

/// Packed numbers of any width, most significant bit first.
class packed_numbers {
 public:
  explicit packed_numbers(std::span<const std::byte> bytes) noexcept : bytes_{bytes} {}

  /// @param bits Up to 64. The caller must know that there are this many left.
  std::uint64_t next(unsigned bits) noexcept {
    constexpr unsigned max_at_once = 32;
    if (bits <= max_at_once) return take(bits);
    const std::uint64_t high = take(bits - max_at_once);
    return high << max_at_once | take(max_at_once);
  }

 private:
  std::uint64_t take(unsigned bits) noexcept {
    for (; held_bits_ < bits; held_bits_ += bits_per_byte)
      held_ = held_ << bits_per_byte | std::to_integer<std::uint64_t>(bytes_[at_++]);
    held_bits_ -= bits;
    return held_ >> held_bits_ & ((std::uint64_t{1} << bits) - 1);
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t held_ = 0;  ///< the bytes that were read last
  unsigned held_bits_ = 0;  ///< bits of them that were not taken yet
};

/// How packed numbers are decoded.
struct meaning {
  unsigned bits;           ///< bits of a packed number; fewer than an unpacked one has
  std::uint64_t smallest;  ///< the chunk's smallest number, or its bytes
};

std::uint64_t fill_of(std::span<const unsigned> values) noexcept {
  return values[first_fill_word] | std::uint64_t{values[first_fill_word + 1]} << 32;
}

/// The packed number that represents the fill value.
std::uint64_t all_ones(unsigned bits) noexcept {
  return (std::uint64_t{1} << bits) - 1;
}

/// @param value_of Returns the number that a packed one represents.
template <class Word, class ValueOf>
void undo_numbers(std::span<const unsigned> values, meaning how, packed_numbers packed,
                  std::span<std::byte> out, ValueOf value_of) noexcept {
  for (std::size_t at = 0; at < out.size(); at += sizeof(Word)) {
    const std::uint64_t number = packed.next(how.bits);
    const bool is_fill = values[has_fill] != 0 && number == all_ones(how.bits);
    const auto word = static_cast<Word>(is_fill ? fill_of(values) : value_of(number));
    std::memcpy(out.data() + at, &word, sizeof word);
  }
}

/// Takes the same steps as the library, so that the results are the same bit for bit.
template <class Float, class Word, class Integer>
void undo_floats(std::span<const unsigned> values, meaning how, packed_numbers packed,
                 std::span<std::byte> out) noexcept {
  const auto digits = static_cast<Float>(static_cast<int>(values[scale_factor]));
  const Float scale = std::pow(Float{10}, digits);
  const auto smallest = std::bit_cast<Float>(static_cast<Word>(how.smallest));
  undo_numbers<Word>(values, how, packed, out, [=](std::uint64_t number) {
    const auto steps = static_cast<Float>(static_cast<Integer>(number));
    return std::bit_cast<Word>(steps / scale + smallest);
  });
}

void undo_packed(std::span<const unsigned> values, meaning how, packed_numbers packed,
                 std::span<std::byte> out) noexcept {
  const bool is_integer = values[number_class] == integer_class;
  const auto integer_of = [=](std::uint64_t number) { return number + how.smallest; };
  switch (values[number_bytes]) {
    case 1:
      return undo_numbers<std::uint8_t>(values, how, packed, out, integer_of);
    case 2:
      return undo_numbers<std::uint16_t>(values, how, packed, out, integer_of);
    case 4:
      return is_integer ? undo_numbers<std::uint32_t>(values, how, packed, out, integer_of)
                        : undo_floats<float, std::uint32_t, std::int32_t>(values, how, packed, out);
    default:
      return is_integer
                 ? undo_numbers<std::uint64_t>(values, how, packed, out, integer_of)
                 : undo_floats<double, std::uint64_t, std::int64_t>(values, how, packed, out);
  }
}

/// Format: the width in bits (32 bits), the number of bytes of the smallest number (one byte),
/// those bytes, in room for 16; then the packed numbers.
std::size_t undo(std::span<const unsigned> values, std::span<const std::byte> stored,
                 std::span<std::byte> out, hdf5_decoder&) {
  constexpr std::size_t room_for_smallest = 16;
  const std::uint64_t bytes = std::uint64_t{values[elements]} * values[number_bytes];
  if (bytes > out.size()) fail_for_claim(bytes, out.size());
  const auto to = out.first(static_cast<std::size_t>(bytes));

  hdf5_filter_input input{stored};
  const auto bits = input.little_endian<std::uint32_t>();
  const std::size_t smallest_bytes = std::to_integer<std::size_t>(input.take(1).front());
  const auto smallest_room = input.take(room_for_smallest);
  const unsigned whole = values[number_bytes] * bits_per_byte;
  if (bits > whole)
    throw hdf5_filter_error{"claims numbers of " + std::to_string(bits) +
                            " bits, where they have " + std::to_string(whole)};
  // Writers store bits / 8 + 1 bytes, which is one byte more than needed if the bits fill whole
  // bytes.
  const auto packed = input.take((std::uint64_t{values[elements]} * bits + 7) / bits_per_byte);
  const auto smallest =
      little_endian(smallest_room.first(std::min(smallest_bytes, sizeof(std::uint64_t))));
  static_assert(std::endian::native == std::endian::little);
  if (bits == whole)  // such numbers are stored unpacked, least significant byte first
    std::ranges::copy(packed.first(to.size()), to.begin());
  else
    undo_packed(values, {bits, smallest}, packed_numbers{packed}, to);
  if (values[byte_order] == big_endian_order) reverse_elements(to, values[number_bytes]);
  return to.size();
}

/// The reason why the library would not undo it either, or nothing.
std::string fault_of(std::span<const unsigned> values) {
  if (values.size() != parameter_count)
    return "has " + std::to_string(values.size()) + " parameters, not 20";
  const unsigned bytes = values[number_bytes];
  const bool is_integer = values[number_class] == integer_class;
  const bool is_known = is_integer ? bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8
                                   : values[number_class] == 1 && (bytes == 4 || bytes == 8);
  if (!is_known) return "is of numbers that the filter does not support";
  if (values[scale_type] != (is_integer ? integer_scale : decimal_scale))
    return "scales in a way that is not one of HDF5's";
  if (is_integer && static_cast<int>(values[scale_factor]) > static_cast<int>(bytes * 8))
    return "claims more bits than its numbers have";
  return {};
}

}  // namespace

hdf5_undo undo_of_scaleoffset(std::span<const unsigned> values) {
  if (auto fault = fault_of(values); !fault.empty()) return {.refusal = std::move(fault)};
  if (values[number_class] == integer_class &&
      values[scale_factor] == values[number_bytes] * bits_per_byte)
    return {};  // such numbers are stored unchanged
  return {.effect = hdf5_size_effect::compression, .function = undo};
}

}  // namespace feedline::detail
