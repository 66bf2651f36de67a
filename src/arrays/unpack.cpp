#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "detail/half.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Elements that are converted at once.
constexpr std::uint64_t piece_elements = std::uint64_t{64} << 10;

bool is_integer(element_type type) noexcept {
  return type < element_type::f16;
}
bool is_signed(element_type type) noexcept {
  return is_integer(type) && static_cast<unsigned>(type) % 2 == 1;
}

/// The type of the stored numbers once `_Unsigned` is applied.
element_type stored_type(const array_spec& spec) noexcept {
  if (!is_integer(spec.type) || !spec.packing.is_unsigned ||
      *spec.packing.is_unsigned != is_signed(spec.type))
    return spec.type;
  return static_cast<element_type>(static_cast<unsigned>(spec.type) ^ 1U);
}

/// The type in which xarray computes: `_choose_float_dtype`, and `maybe_promote` if values are only
/// masked.
element_type computed_type(const array_spec& spec, element_type stored) noexcept {
  const value_packing& how = spec.packing;
  const std::size_t bytes = size_bytes(stored);
  if (how.scale_factor && how.add_offset && how.scale_factor->is_f32 == how.add_offset->is_f32) {
    const bool is_wide = is_integer(stored) && bytes == 4;
    return how.scale_factor->is_f32 && !is_wide ? element_type::f32 : element_type::f64;
  }
  if (how.add_offset) return element_type::f64;
  if (how.scale_factor) return how.scale_factor->is_f32 ? element_type::f32 : element_type::f64;
  if (is_integer(stored)) return bytes <= 2 ? element_type::f32 : element_type::f64;
  return stored == element_type::f64 ? element_type::f64 : element_type::f32;
}

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
      return each(std::uint16_t{}, detail::from_f16);
    case element_type::bf16:
      return each(std::uint16_t{}, detail::from_bf16);
    case element_type::f32:
      return each(float{}, plain);
    case element_type::f64:
      return each(double{}, plain);
  }
}

class unpacked_array final : public array_source {
 public:
  unpacked_array(array_spec spec, array_ptr of, element_type stored, element_type computed,
                 double missing)
      : array_source{std::move(spec)},
        of_{std::move(of)},
        stored_{stored},
        computed_{computed},
        missing_{missing} {
    for (double each : of_->spec().packing.missing) {
      // The attribute has the stored type, and is converted with it.
      if (stored_ != of_->spec().type && is_signed(of_->spec().type) && each < 0)
        each += std::ldexp(1.0, static_cast<int>(8 * size_bytes(stored_)));
      masks_.push_back(each);
    }
  }

  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const array_box> boxes) const noexcept override { of_->prefetch(boxes); }

 private:
  void do_read(std::span<const array_box> boxes) const override {
    // All stored values of a read are asked for at once, so that a chunk is decoded once for all.
    std::vector<std::byte> stored;
    std::size_t elements = 0;
    const std::size_t bytes = size_bytes(stored_);
    for (const array_box& box : boxes) elements += elements_of(box);
    stored.resize(elements * bytes);
    detail::box_list inner;
    std::size_t at = 0;
    std::vector<detail::box_list::axis> axes;
    for (const array_box& box : boxes) {
      const auto strides = detail::dense_strides(box.count, bytes);
      axes.clear();
      for (std::size_t d = 0; d < strides.size(); ++d)
        axes.push_back({box.begin[d], box.count[d], box.step[d], strides[d]});
      inner.add(axes, stored.data() + at);
      at += elements_of(box) * bytes;
    }
    of_->read(inner.boxes());
    at = 0;
    for (const array_box& box : boxes) {
      computed_ == element_type::f32 ? put<float>(box, stored.data() + at)
                                     : put<double>(box, stored.data() + at);
      at += elements_of(box) * bytes;
    }
  }

  static std::size_t elements_of(const array_box& box) noexcept {
    std::size_t elements = 1;
    for (const std::uint64_t count : box.count) elements *= count;
    return elements;
  }

  /// Converts a box's values, in pieces, and copies them to its destination.
  template <class Number>
  void put(const array_box& box, const std::byte* stored) const {
    const std::size_t bytes = size_bytes(spec().type);
    std::vector<std::byte> values(elements_of(box) * bytes);
    std::vector<Number> piece(std::min<std::size_t>(piece_elements, elements_of(box)));
    for (std::size_t first = 0; first < elements_of(box); first += piece.size()) {
      const std::size_t count = std::min(piece.size(), elements_of(box) - first);
      widen(stored_, stored + first * size_bytes(stored_), count, piece.data());
      compute(std::span{piece}.first(count));
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
    detail::copy_box({.count = box.count,
                      .from = values.data(),
                      .from_stride = detail::dense_strides(box.count, bytes),
                      .to = box.out,
                      .to_stride = box.stride,
                      .element_bytes = bytes});
  }

  /// A product and a sum, each rounded to the type, as NumPy does it.
  template <class Number>
  void compute(std::span<Number> values) const {
    const value_packing& how = of_->spec().packing;
    const auto factor = static_cast<Number>(how.scale_factor ? how.scale_factor->value : 1);
    const auto offset = static_cast<Number>(how.add_offset ? how.add_offset->value : 0);
    const auto nothing = static_cast<Number>(missing_);
    const bool replaces_nan = !std::isnan(missing_);
    for (Number& value : values) {
      bool is_missing = replaces_nan && std::isnan(value);
      for (const double each : masks_) is_missing = is_missing || double{value} == each;
      Number result = value;
      if (how.scale_factor) result *= factor;
      if (how.add_offset) result += offset;
      value = is_missing ? nothing : result;
    }
  }

  const array_ptr of_;
  const element_type stored_;
  const element_type computed_;
  const double missing_;
  std::vector<double> masks_ = {};
};

}  // namespace

array_ptr unpack(array_ptr array, const unpack_options& options) {
  if (!array) throw usage_error{"unpack: there is no array"};
  array_spec spec = array->spec();
  if (spec.type == element_type::boolean)
    throw usage_error{"unpack: array " + to_string(spec) + " holds booleans, not numbers"};
  if (options.type && *options.type != element_type::f32 && *options.type != element_type::f64)
    throw usage_error{"unpack: type is " + std::string{to_string(*options.type)} +
                      ", but values are unpacked to float32 or float64; a loader's transforms "
                      "convert further"};
  const element_type stored = stored_type(spec);
  const element_type computed = computed_type(spec, stored);
  spec.type = options.type.value_or(computed);
  spec.packing = {};
  return std::make_shared<const unpacked_array>(std::move(spec), std::move(array), stored, computed,
                                                options.missing);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
