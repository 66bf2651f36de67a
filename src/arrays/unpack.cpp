#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>

#include "arrays/computed_array.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

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

template <class Number>
class unpacked_array final : public detail::computed_array<Number> {
 public:
  unpacked_array(array_spec spec, array_ptr from, element_type stored, double missing)
      : detail::computed_array<Number>{std::move(spec), std::move(from), stored},
        how_{this->of().spec().packing},
        missing_{static_cast<Number>(missing)},
        replaces_nan_{!std::isnan(missing)} {
    const element_type type = this->of().spec().type;
    for (double& each : how_.missing)
      // The attribute has the stored type, and is converted with it.
      if (stored != type && is_signed(type) && each < 0)
        each += std::ldexp(1.0, static_cast<int>(8 * size_bytes(stored)));
  }

 private:
  /// A product and a sum, each rounded to the type, as NumPy does it.
  void compute(const array_box& /*box*/, std::uint64_t /*first*/,
               std::span<Number> values) const override {
    const auto factor = static_cast<Number>(how_.scale_factor ? how_.scale_factor->value : 1);
    const auto offset = static_cast<Number>(how_.add_offset ? how_.add_offset->value : 0);
    for (Number& value : values) {
      bool is_missing = replaces_nan_ && std::isnan(value);
      for (const double each : how_.missing) is_missing = is_missing || double{value} == each;
      Number result = value;
      if (how_.scale_factor) result *= factor;
      if (how_.add_offset) result += offset;
      value = is_missing ? missing_ : result;
    }
  }

  value_packing how_;
  const Number missing_;
  const bool replaces_nan_;
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
  if (computed == element_type::f32)
    return std::make_shared<const unpacked_array<float>>(std::move(spec), std::move(array), stored,
                                                         options.missing);
  return std::make_shared<const unpacked_array<double>>(std::move(spec), std::move(array), stored,
                                                        options.missing);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
