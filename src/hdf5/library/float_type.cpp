#include "hdf5/library/float_type.hpp"

#include <array>
#include <cstddef>

namespace feedline::detail {
namespace {

struct float_format {
  element_type type;
  std::size_t bytes;
  std::size_t exponent_bits;
  std::size_t mantissa_bits;
  std::size_t bias;
};

constexpr std::array<float_format, 4> float_formats{{
    {element_type::f16, 2, 5, 10, 15},
    {element_type::bf16, 2, 8, 7, 127},
    {element_type::f32, 4, 8, 23, 127},
    {element_type::f64, 8, 11, 52, 1023},
}};

bool has_format(hid_t type, const float_format& format) {
  std::size_t sign_at = 0;
  std::size_t exponent_at = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa_at = 0;
  std::size_t mantissa_bits = 0;
  if (H5Tget_fields(type, &sign_at, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits) < 0)
    return false;
  return H5Tget_size(type) == format.bytes && sign_at == 8 * format.bytes - 1 &&
         exponent_at == format.mantissa_bits && exponent_bits == format.exponent_bits &&
         mantissa_at == 0 && mantissa_bits == format.mantissa_bits &&
         H5Tget_ebias(type) == format.bias && H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

}  // namespace

std::optional<element_type> hdf5_float_type(const hdf5_session& /*hdf5*/, hid_t type) {
  const H5T_order_t order = H5Tget_order(type);
  if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) return std::nullopt;
  for (const auto& format : float_formats)
    if (has_format(type, format)) return format.type;
  return std::nullopt;
}

}  // namespace feedline::detail
