#pragma once

#include <feedline/arrays/array_source.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "detail/half.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Reads elements as numbers. @param Number Float or double.
template <class Number>
void widen(element_type type, const std::byte* from, std::size_t count, Number* to) {
  const auto each = [&]<class Stored>(Stored, auto convert) {
    for (std::size_t i = 0; i < count; ++i) {
      Stored value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      to[i] = static_cast<Number>(convert(value));
    }
  };
  const auto plain = [](auto value) { return value; };
  switch (type) {
    case element_type::u8:
    case element_type::boolean:
      return each(std::uint8_t{}, plain);
    case element_type::i8:
      return each(std::int8_t{}, plain);
    case element_type::u16:
      return each(std::uint16_t{}, plain);
    case element_type::i16:
      return each(std::int16_t{}, plain);
    case element_type::u32:
      return each(std::uint32_t{}, plain);
    case element_type::i32:
      return each(std::int32_t{}, plain);
    case element_type::u64:
      return each(std::uint64_t{}, plain);
    case element_type::i64:
      return each(std::int64_t{}, plain);
    case element_type::f16:
      return each(std::uint16_t{}, from_f16);
    case element_type::bf16:
      return each(std::uint16_t{}, from_bf16);
    case element_type::f32:
      return each(float{}, plain);
    case element_type::f64:
      return each(double{}, plain);
  }
}

/// An array of f32 or f64 whose values are computed from those of another of the same shape, by the
/// thread that reads, in pieces.
/// @param Number Float or double: the type in which values are computed.
template <class Number>
class computed_array : public array_source {
 public:
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const array_box> boxes) const noexcept override { of_->prefetch(boxes); }

 protected:
  /// @param stored The type as which the other's values are taken, of the same size as theirs.
  computed_array(array_spec spec, array_ptr of, element_type stored)
      : array_source{std::move(spec)}, of_{std::move(of)}, stored_{stored} {}

  [[nodiscard]] const array_source& of() const noexcept { return *of_; }
  [[nodiscard]] element_type stored() const noexcept { return stored_; }

 private:
  /// Elements that are converted at once.
  static constexpr std::uint64_t piece_elements = std::uint64_t{64} << 10;

  /// Computes consecutive elements of a box, row-major, in place.
  /// @param first Number of the first one in the box.
  virtual void compute(const array_box& box, std::uint64_t first,
                       std::span<Number> values) const = 0;

  void do_read(std::span<const array_box> boxes) const final {
    // All stored values of a read are asked for at once, so that a chunk is decoded once for all.
    std::vector<std::byte> stored;
    std::size_t elements = 0;
    const std::size_t bytes = size_bytes(stored_);
    for (const array_box& box : boxes) elements += elements_of(box);
    stored.resize(elements * bytes);
    box_list inner;
    std::size_t at = 0;
    std::vector<box_list::axis> axes;
    for (const array_box& box : boxes) {
      const auto strides = dense_strides(box.count, bytes);
      axes.clear();
      for (std::size_t d = 0; d < strides.size(); ++d)
        axes.push_back({box.begin[d], box.count[d], box.step[d], strides[d]});
      inner.add(axes, stored.data() + at);
      at += elements_of(box) * bytes;
    }
    of_->read(inner.boxes());
    at = 0;
    for (const array_box& box : boxes) {
      put(box, stored.data() + at);
      at += elements_of(box) * bytes;
    }
  }

  static std::size_t elements_of(const array_box& box) noexcept {
    std::size_t elements = 1;
    for (const std::uint64_t count : box.count) elements *= count;
    return elements;
  }

  /// Converts a box's values, in pieces, and copies them to its destination.
  void put(const array_box& box, const std::byte* stored) const {
    const std::size_t bytes = size_bytes(spec().type);
    std::vector<std::byte> values(elements_of(box) * bytes);
    std::vector<Number> piece(std::min<std::size_t>(piece_elements, elements_of(box)));
    for (std::size_t first = 0; first < elements_of(box); first += piece.size()) {
      const std::size_t count = std::min(piece.size(), elements_of(box) - first);
      widen(stored_, stored + first * size_bytes(stored_), count, piece.data());
      compute(box, first, std::span{piece}.first(count));
      std::byte* const to = values.data() + first * bytes;
      for (std::size_t i = 0; i < count; ++i) {
        if (spec().type == element_type::f32) {
          const auto value = static_cast<float>(piece[i]);
          std::memcpy(to + i * sizeof value, &value, sizeof value);
        } else {
          const auto value = static_cast<double>(piece[i]);
          std::memcpy(to + i * sizeof value, &value, sizeof value);
        }
      }
    }
    copy_box({.count = box.count,
              .from = values.data(),
              .from_stride = dense_strides(box.count, bytes),
              .to = box.out,
              .to_stride = box.stride,
              .element_bytes = bytes});
  }

  const array_ptr of_;
  const element_type stored_;
};

}  // namespace feedline::detail
