#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t samples = 9;

/// A floating-point type of any format, in the machine's order.
detail::hdf5_type_id float_type(std::size_t bytes, std::size_t exponent_bits,
                                std::size_t mantissa_bits, std::size_t bias) {
  detail::hdf5_type_id type{H5Tcopy(H5T_NATIVE_FLOAT)};
  require_hdf5(H5Tset_fields(type.get(), exponent_bits + mantissa_bits, mantissa_bits,
                             exponent_bits, 0, mantissa_bits) >= 0 &&
                   H5Tset_size(type.get(), bytes) >= 0 && H5Tset_ebias(type.get(), bias) >= 0,
               "make a floating-point type");
  return type;
}

/// NumPy's bool, as h5py writes it.
detail::hdf5_type_id boolean_type() {
  detail::hdf5_type_id type{H5Tenum_create(H5T_STD_I8LE)};
  for (const auto& [name, value] : {std::pair{"FALSE", 0}, std::pair{"TRUE", 1}}) {
    const auto byte = static_cast<signed char>(value);
    require_hdf5(H5Tenum_insert(type.get(), name, &byte) >= 0, "make a bool");
  }
  return type;
}

detail::hdf5_type_id in_order(hid_t type, H5T_order_t order) {
  detail::hdf5_type_id copy{H5Tcopy(type)};
  if (H5Tget_size(type) > 1) require_hdf5(H5Tset_order(copy.get(), order) >= 0, "set a byte order");
  return copy;
}

/// Writes values of one type, stores them in both byte orders, and reads them as a field.
void check_both_orders(hid_t memory_type, const field& spec, const std::vector<std::byte>& values) {
  const std::size_t row_bytes = values.size() / samples;
  REQUIRE(row_bytes == sample_bytes(spec));
  extent_vector extents{samples};
  extents.insert(extents.end(), spec.shape.begin(), spec.shape.end());
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "types.h5"};
  for (const auto& [name, order] :
       {std::pair{"little", H5T_ORDER_LE}, std::pair{"big", H5T_ORDER_BE}})
    writer.write(name, in_order(memory_type, order).get(), extents, memory_type, values.data());
  const auto file = writer.close();
  for (const auto* name : {"little", "big"})
    for (const std::size_t limit : {0U, 1U << 20}) {
      INFO(to_string(spec) << ", " << name << "-endian");
      check_dataset_contract(
          open_hdf5(file, {{name, spec.name}}, {.max_resident_bytes = limit}), samples, {spec},
          [&](sample_index sample, std::size_t) {
            const auto row = values.begin() + static_cast<std::ptrdiff_t>(sample.value * row_bytes);
            return std::vector<std::byte>(row, row + static_cast<std::ptrdiff_t>(row_bytes));
          });
    }
}

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Rows of three: the type's limits and what lies between.
template <class T>
void check_integers(hid_t memory_type, element_type type) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (std::size_t i = 0; i < samples; ++i) {
    values.push_back(static_cast<T>(limits::max() - static_cast<T>(i)));
    values.push_back(static_cast<T>(limits::min() + static_cast<T>(i)));
    values.push_back(static_cast<T>(limits::max() / (i + 3)));
  }
  check_both_orders(memory_type, {"x", type, {3}}, bytes_of_values(values));
}

/// Rows of four bit patterns; not-a-numbers with a payload, infinities and subnormals among them.
template <class Bits>
void check_floats(hid_t memory_type, element_type type, int mantissa_bits) {
  const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits infinity = static_cast<Bits>((sign - 1) >> mantissa_bits << mantissa_bits);
  std::vector<Bits> values;
  for (std::size_t i = 0; i < samples; ++i) {
    values.push_back(static_cast<Bits>(infinity / 3 + i * 77));        // usual
    values.push_back(static_cast<Bits>(sign | static_cast<Bits>(i)));  // subnormal, or -0
    values.push_back(static_cast<Bits>(infinity | (i % 2 == 0 ? Bits{0} : sign)));
    values.push_back(
        static_cast<Bits>(infinity | Bits{1} << (mantissa_bits - 1) | static_cast<Bits>(i)));
  }
  check_both_orders(memory_type, {"x", type, {4}}, bytes_of_values(values));
}

std::string refusal_of(hid_t type) {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "types.h5"};
  (void)writer.make("x", type, {4});
  const auto file = writer.close();
  for (const auto& listing : list_hdf5_fields(file)) CHECK(listing.is_ragged);
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("hdf5: integers of every size and sign are read, in either byte order",
          "[dataset][host]") {
  check_integers<std::uint8_t>(H5T_NATIVE_UINT8, element_type::u8);
  check_integers<std::int8_t>(H5T_NATIVE_INT8, element_type::i8);
  check_integers<std::uint16_t>(H5T_NATIVE_UINT16, element_type::u16);
  check_integers<std::int16_t>(H5T_NATIVE_INT16, element_type::i16);
  check_integers<std::uint32_t>(H5T_NATIVE_UINT32, element_type::u32);
  check_integers<std::int32_t>(H5T_NATIVE_INT32, element_type::i32);
  check_integers<std::uint64_t>(H5T_NATIVE_UINT64, element_type::u64);
  check_integers<std::int64_t>(H5T_NATIVE_INT64, element_type::i64);
}

TEST_CASE("hdf5: every bit of floating-point values is kept, half precision and bfloat16 included",
          "[dataset][host]") {
  check_floats<std::uint16_t>(float_type(2, 5, 10, 15).get(), element_type::f16, 10);
  check_floats<std::uint16_t>(float_type(2, 8, 7, 127).get(), element_type::bf16, 7);
  check_floats<std::uint32_t>(H5T_NATIVE_FLOAT, element_type::f32, 23);
  check_floats<std::uint64_t>(H5T_NATIVE_DOUBLE, element_type::f64, 52);
}

TEST_CASE("hdf5: NumPy's bool is boolean, and any other enumeration is its integers",
          "[dataset][host]") {
  std::vector<std::byte> bits;
  for (std::size_t i = 0; i < samples; ++i) bits.push_back(static_cast<std::byte>(i % 3 == 0));
  check_both_orders(boolean_type().get(), {"x", element_type::boolean, {}}, bits);

  detail::hdf5_type_id colours{H5Tenum_create(H5T_NATIVE_INT16)};
  for (const auto& [name, value] : {std::pair{"red", 500}, std::pair{"green", -2}}) {
    const auto word = static_cast<std::int16_t>(value);
    require_hdf5(H5Tenum_insert(colours.get(), name, &word) >= 0, "make an enumeration");
  }
  std::vector<std::int16_t> values;
  for (std::size_t i = 0; i < samples; ++i)
    values.push_back(static_cast<std::int16_t>(i % 2 == 0 ? 500 : -2));
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "enum.h5"};
  writer.write("x", colours.get(), {samples}, colours.get(), values.data());
  detail::hdf5_type_id big{H5Tenum_create(H5T_STD_I16BE)};
  for (const auto& [name, value] : {std::pair{"red", 0x01f4}, std::pair{"green", 0xfffe}}) {
    const auto word = std::endian::native == std::endian::little
                          ? static_cast<std::uint16_t>(value >> 8 | (value & 0xff) << 8)
                          : static_cast<std::uint16_t>(value);
    require_hdf5(H5Tenum_insert(big.get(), name, &word) >= 0, "make an enumeration");
  }
  writer.write("big", big.get(), {samples}, colours.get(), values.data());
  const auto file = writer.close();
  for (const auto* name : {"x", "big"})
    check_dataset_contract(open_hdf5(file, {{name, "x"}}), samples, {{"x", element_type::i16, {}}},
                           [&](sample_index sample, std::size_t) {
                             return bytes_of_values(std::vector{values[sample.value]});
                           });
}

TEST_CASE("hdf5: complex numbers are pairs, in either byte order", "[dataset][host]") {
  const auto complex_of = [](hid_t number) {
    const std::size_t bytes = H5Tget_size(number);
    detail::hdf5_type_id type{H5Tcreate(H5T_COMPOUND, 2 * bytes)};
    H5Tinsert(type.get(), "r", 0, number);
    H5Tinsert(type.get(), "i", bytes, number);
    return type;
  };
  std::vector<float> values(samples * 3 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "complex.h5"};
  for (const auto& [name, number] :
       {std::pair{"little", H5T_IEEE_F32LE}, std::pair{"big", H5T_IEEE_F32BE}})
    writer.write(name, complex_of(number).get(), {samples, 3}, complex_of(H5T_NATIVE_FLOAT).get(),
                 values.data());
  const auto file = writer.close();
  for (const auto* name : {"little", "big"})
    for (const std::size_t limit : {0U, 1U << 20})
      check_dataset_contract(
          open_hdf5(file, {{name, "x"}}, {.max_resident_bytes = limit}), samples,
          {{"x", element_type::f32, {3, 2}}}, [&](sample_index sample, std::size_t) {
            const auto row = values.begin() + static_cast<std::ptrdiff_t>(sample.value * 6);
            return bytes_of_values(std::vector<float>(row, row + 6));
          });
}

TEST_CASE("hdf5: strings of fixed size and opaque values are bytes, bit fields are integers",
          "[dataset][host]") {
  const auto values = various_bytes(samples * 6);
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "bytes.h5"};
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), 3);
  const detail::hdf5_type_id blob{H5Tcreate(H5T_OPAQUE, 3)};
  for (const auto& [name, type] : {std::pair{"text", text.get()}, std::pair{"opaque", blob.get()}})
    writer.write(name, type, {samples, 2}, type, values.data());
  writer.write("bits", H5T_STD_B16BE, {samples, 3}, H5T_STD_B16LE, values.data());
  const auto file = writer.close();
  const auto row_of = [&](sample_index sample, std::size_t) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(sample.value * 6);
    return std::vector<std::byte>(row, row + 6);
  };
  for (const std::size_t limit : {0U, 1U << 20}) {
    for (const auto* name : {"text", "opaque"})
      check_dataset_contract(open_hdf5(file, {{name, "x"}}, {.max_resident_bytes = limit}), samples,
                             {{"x", element_type::u8, {2, 3}}}, row_of);
    check_dataset_contract(open_hdf5(file, {{"bits", "x"}}, {.max_resident_bytes = limit}), samples,
                           {{"x", element_type::u16, {3}}}, row_of);
  }
}

TEST_CASE("hdf5: numbers of fewer bits than their bytes have are converted by the library",
          "[dataset][host]") {
  std::vector<std::int16_t> values(samples);
  for (std::size_t i = 0; i < samples; ++i) values[i] = static_cast<std::int16_t>(i * 20);
  const detail::hdf5_type_id nine{H5Tcopy(H5T_STD_I16LE)};
  require_hdf5(H5Tset_precision(nine.get(), 9) >= 0 && H5Tset_offset(nine.get(), 3) >= 0,
               "make a type of 9 bits");
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "bits.h5"};
  writer.write("x", nine.get(), {samples}, H5T_NATIVE_INT16, values.data());
  const auto file = writer.close();
  for (const std::size_t limit : {0U, 1U << 20})
    check_dataset_contract(open_hdf5(file, {{"x"}}, {.max_resident_bytes = limit}), samples,
                           {{"x", element_type::i16, {}}}, [&](sample_index sample, std::size_t) {
                             return bytes_of_values(std::vector{values[sample.value]});
                           });
}

TEST_CASE("hdf5: the extents of array types follow the dataset's own", "[dataset][host]") {
  const extent_vector inner_extents{2};
  const extent_vector outer_extents{3, 4};
  const detail::hdf5_type_id inner_file{H5Tarray_create2(H5T_STD_I16BE, 1, inner_extents.data())};
  const detail::hdf5_type_id outer_file{
      H5Tarray_create2(inner_file.get(), 2, outer_extents.data())};
  const detail::hdf5_type_id inner{H5Tarray_create2(H5T_NATIVE_INT16, 1, inner_extents.data())};
  const detail::hdf5_type_id outer{H5Tarray_create2(inner.get(), 2, outer_extents.data())};
  const std::size_t row = std::size_t{5} * 3 * 4 * 2;
  std::vector<std::int16_t> values(samples * row);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int16_t>(i * 7);
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "array.h5"};
  writer.write("x", outer_file.get(), {samples, 5}, outer.get(), values.data());
  const auto file = writer.close();
  for (const std::size_t limit : {0U, 1U << 20})
    check_dataset_contract(
        open_hdf5(file, {{"x"}}, {.max_resident_bytes = limit}), samples,
        {{"x", element_type::i16, {5, 3, 4, 2}}}, [&](sample_index sample, std::size_t) {
          const auto first = values.begin() + static_cast<std::ptrdiff_t>(sample.value * row);
          return bytes_of_values(
              std::vector<std::int16_t>(first, first + static_cast<std::ptrdiff_t>(row)));
        });
}

TEST_CASE("hdf5: a type that no element stands for is refused by the name of its class",
          "[dataset][host]") {
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), H5T_VARIABLE);
  CHECK(contains(refusal_of(text.get()), "of variable length: open_hdf5_ragged reads them"));
  CHECK(contains(refusal_of(H5T_STD_REF_DSETREG), "reference to a region of a dataset"));
  const detail::hdf5_type_id lists{H5Tvlen_create(H5T_NATIVE_INT)};
  CHECK(contains(refusal_of(lists.get()), "of variable length: open_hdf5_ragged reads them"));
  const detail::hdf5_type_id three{H5Tcopy(H5T_NATIVE_INT)};
  H5Tset_size(three.get(), 3);
  CHECK(contains(refusal_of(three.get()), "integer of 3 bytes"));
  CHECK(contains(refusal_of(float_type(4, 7, 24, 63).get()),
                 "floating-point of 4 bytes in a format of its own"));
  CHECK(contains(refusal_of(H5T_NATIVE_LDOUBLE), "floating-point of 16 bytes"));
  const hsize_t two = 2;
  const detail::hdf5_type_id strings{H5Tarray_create2(text.get(), 1, &two)};
  CHECK(contains(refusal_of(strings.get()), "string of variable length"));
}
