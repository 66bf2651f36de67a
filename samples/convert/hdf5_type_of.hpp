#pragma once

#include <feedline/dataset/element_type.hpp>

#include "hdf5_handle.hpp"

#include <array>

namespace convert {

/// An IEEE-like format that HDF5 has no name for, of two bytes.
inline hdf5_handle half_type(std::size_t exponent_bits, std::size_t bias) {
  hdf5_handle type{"describe a 16-bit float", H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
  const std::size_t mantissa_bits = 15 - exponent_bits;
  // Fields before the size, for they must fit in it.
  require(H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits),
          "describe a 16-bit float");
  require(H5Tset_size(type, 2), "describe a 16-bit float");
  require(H5Tset_ebias(type, bias), "describe a 16-bit float");
  return type;
}

/// What h5py takes for NumPy's bool.
inline hdf5_handle boolean_type() {
  hdf5_handle type{"describe a boolean", H5Tenum_create(H5T_NATIVE_INT8), H5Tclose};
  const std::array<signed char, 2> values{0, 1};
  require(H5Tenum_insert(type, "FALSE", &values[0]), "describe a boolean");
  require(H5Tenum_insert(type, "TRUE", &values[1]), "describe a boolean");
  return type;
}

/// An element's type in memory, and in the file as well.
inline hdf5_handle type_of(feedline::element_type type) {
  using enum feedline::element_type;
  const auto copy = [](hid_t native) {
    return hdf5_handle{"describe a type", H5Tcopy(native), H5Tclose};
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
      return half_type(5, 15);
    case bf16:
      return half_type(8, 127);
    case f32:
      return copy(H5T_NATIVE_FLOAT);
    case f64:
      return copy(H5T_NATIVE_DOUBLE);
    case boolean:
      return boolean_type();
  }
  throw std::logic_error{"an element type that is none"};
}

}  // namespace convert
