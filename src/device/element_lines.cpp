#include "device/element_lines.hpp"

#include "dataset/label_type.hpp"
#include "detail/half.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

// Compiled with -ffp-contract=off: a product is rounded before the sum. The loops read words by
// memcpy, because rows may have any address; compilers vectorize them anyway.

namespace feedline::detail {
namespace {

using step = std::ptrdiff_t;

template <class Value, class Word>
Value as_number(Word word) noexcept {
  return static_cast<Value>(word);  // an integer with its sign
}
template <class Value>
Value as_boolean(std::uint8_t byte) noexcept {
  return byte != 0 ? Value{1} : Value{0};
}
template <class Value>
Value as_f16(std::uint16_t bits) noexcept {
  return static_cast<Value>(from_f16(bits));
}
template <class Value>
Value as_bf16(std::uint16_t bits) noexcept {
  return static_cast<Value>(from_bf16(bits));
}

template <class Value, class Word, Value (*As)(Word) noexcept = as_number<Value, Word>>
void read_line(const std::byte* in, step count, Value* out) noexcept {
  for (step i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, in + i * step{sizeof word}, sizeof word);
    out[i] = As(word);
  }
}

template <class Word>
Word cut(std::uint64_t value) noexcept {
  return static_cast<Word>(value);
}
std::uint8_t is_not_0(std::uint64_t value) noexcept {
  return value != 0 ? 1 : 0;
}

template <class Word, Word (*Cut)(std::uint64_t) noexcept = cut<Word>>
void write_whole(const std::uint64_t* in, step in_step, std::byte* out, step out_step, step count,
                 affine) noexcept {
  for (step i = 0; i < count; ++i) {
    const Word word = Cut(in[i * in_step]);
    std::memcpy(out + i * out_step * step{sizeof word}, &word, sizeof word);
  }
}

/// A NaN becomes the one that an NVIDIA device's arithmetic produces; a CPU's has any sign and
/// payload.
std::uint32_t to_f32(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return choose(mask_if_less(0x7F80'0000U, bits & 0x7FFF'FFFFU), 0x7FFF'FFFFU, bits);
}

float as_is(float value) noexcept {
  return value;
}

/// @tparam InStep, OutStep Steps known at compile time; 0: the arguments give them.
template <class Word, Word (*Rounded)(float) noexcept, step InStep, step OutStep>
void write_stepping(const float* in, step in_step, std::byte* out, step out_step, step count,
                    affine by) noexcept {
  if constexpr (InStep != 0) in_step = InStep;
  if constexpr (OutStep != 0) out_step = OutStep;
  for (step i = 0; i < count; ++i) {
    const float product = in[i * in_step] * by.scale;
    const Word word = Rounded(product + by.offset);
    std::memcpy(out + i * out_step * step{sizeof word}, &word, sizeof word);
  }
}

template <class Word, Word (*Rounded)(float) noexcept>
void write_line(const float* in, step in_step, std::byte* out, step out_step, step count,
                affine by) noexcept {
  auto* write = write_stepping<Word, Rounded, 0, 0>;
  if (out_step == 1 && in_step == 1) write = write_stepping<Word, Rounded, 1, 1>;
  if (out_step == 1 && in_step == -1) write = write_stepping<Word, Rounded, -1, 1>;
  if (out_step == 1 && in_step == 3) write = write_stepping<Word, Rounded, 3, 1>;
  if (out_step == 1 && in_step == -3) write = write_stepping<Word, Rounded, -3, 1>;
  write(in, in_step, out, out_step, count, by);
}

}  // namespace

template <class Value>
line_reader<Value> line_reader_of(element_type from) noexcept {
  switch (from) {
    case element_type::f16:
      return read_line<Value, std::uint16_t, as_f16<Value>>;
    case element_type::bf16:
      return read_line<Value, std::uint16_t, as_bf16<Value>>;
    case element_type::f32:
      return read_line<Value, float>;
    case element_type::f64:
      return read_line<Value, double>;
    case element_type::boolean:
      return read_line<Value, std::uint8_t, as_boolean<Value>>;
    default:
      return with_integer(
          from, [](auto word) -> line_reader<Value> { return read_line<Value, decltype(word)>; });
  }
}

template line_reader<float> line_reader_of(element_type from) noexcept;
template line_reader<std::uint64_t> line_reader_of(element_type from) noexcept;

template <>
line_writer<float> line_writer_of(element_type from, element_type to) noexcept {
  if (to == element_type::f16) return write_line<std::uint16_t, to_f16>;
  if (to == element_type::bf16) return write_line<std::uint16_t, to_bf16>;
  const bool may_be_nan = from == element_type::f16 || from == element_type::bf16 ||
                          from == element_type::f32 || from == element_type::f64;
  return may_be_nan ? write_line<std::uint32_t, to_f32> : write_line<float, as_is>;
}

template <>
line_writer<std::uint64_t> line_writer_of(element_type, element_type to) noexcept {
  if (to == element_type::boolean) return write_whole<std::uint8_t, is_not_0>;
  switch (size_bytes(to)) {
    case 1:
      return write_whole<std::uint8_t>;
    case 2:
      return write_whole<std::uint16_t>;
    case 4:
      return write_whole<std::uint32_t>;
    default:
      return write_whole<std::uint64_t>;
  }
}

}  // namespace feedline::detail
