#pragma once

#include <feedline/dataset/element_type.hpp>

#include "programs/convert/output/hdf5_calls.hpp"

#include <array>

namespace convert {

/// An IEEE-like format that HDF5 has no name for, of two bytes.
inline hdf5_type_id half_type(const hdf5_session& hdf5, std::size_t exponent_bits,
                              std::size_t bias) {
  constexpr auto what = "describe a 16-bit float";
  auto type = required<hdf5_type_id>(hdf5, H5Tcopy(H5T_NATIVE_FLOAT), what);
  const std::size_t mantissa_bits = 15 - exponent_bits;
  // Fields before the size, for they must fit in it.
  require(hdf5, H5Tset_fields(type.get(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits),
          what);
  require(hdf5, H5Tset_size(type.get(), 2), what);
  require(hdf5, H5Tset_ebias(type.get(), bias), what);
  return type;
}

/// What h5py takes for NumPy's bool.
inline hdf5_type_id boolean_type(const hdf5_session& hdf5) {
  constexpr auto what = "describe a boolean";
  auto type = required<hdf5_type_id>(hdf5, H5Tenum_create(H5T_NATIVE_INT8), what);
  const std::array<signed char, 2> values{0, 1};
  require(hdf5, H5Tenum_insert(type.get(), "FALSE", &values[0]), what);
  require(hdf5, H5Tenum_insert(type.get(), "TRUE", &values[1]), what);
  return type;
}

/// An element's type in memory, and in the file as well.
inline hdf5_type_id type_of(const hdf5_session& hdf5, feedline::element_type type) {
  using enum feedline::element_type;
  const auto copy = [&](hid_t native) {
    return required<hdf5_type_id>(hdf5, H5Tcopy(native), "describe a type");
  };
  switch (type) {
    case u8:
      return copy(H5T_NATIVE_UINT8);
    case i8:
      return copy(H5T_NATIVE_INT8);
    case u16:
      return copy(H5T_NATIVE_UINT16);
    case i16:
      return copy(H5T_NATIVE_INT16);
    case u32:
      return copy(H5T_NATIVE_UINT32);
    case i32:
      return copy(H5T_NATIVE_INT32);
    case u64:
      return copy(H5T_NATIVE_UINT64);
    case i64:
      return copy(H5T_NATIVE_INT64);
    case f16:
      return half_type(hdf5, 5, 15);
    case bf16:
      return half_type(hdf5, 8, 127);
    case f32:
      return copy(H5T_NATIVE_FLOAT);
    case f64:
      return copy(H5T_NATIVE_DOUBLE);
    case boolean:
      return boolean_type(hdf5);
  }
  throw std::logic_error{"an element type that is none"};
}

}  // namespace convert
