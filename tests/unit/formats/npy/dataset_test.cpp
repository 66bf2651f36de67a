#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::npy_bytes;
using test::npy_dictionary;

namespace {

constexpr bool machine_is_little = std::endian::native == std::endian::little;

/// A field's values of all samples, in order.
template <class T>
std::vector<T> values_of(const dataset& dataset, std::size_t field_place = 0) {
  std::vector<sample_index> all(dataset.size());
  for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = sample_index{i};
  const byte_vector bytes = test::read_samples(dataset, all).at(field_place);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A sample's bytes in an array that lies in memory in C order.
test::expected_bytes rows_of(const byte_vector& array, std::uint64_t samples) {
  return [&array, samples](sample_index sample, std::size_t) {
    const std::size_t row_bytes = array.size() / samples;
    const auto row = std::span{array}.subspan(sample.value * row_bytes, row_bytes);
    return byte_vector{row.begin(), row.end()};
  };
}

/// An array's elements as a file in Fortran order has them, from those in C order.
byte_vector in_fortran_order(const byte_vector& array, const std::vector<std::uint64_t>& shape,
                             std::size_t element_bytes) {
  byte_vector out(array.size());
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t at = 0; at < array.size(); at += element_bytes) {
    std::uint64_t place = 0;
    for (std::size_t i = shape.size(); i-- > 0;) place = place * shape[i] + index[i];
    std::memcpy(out.data() + place * element_bytes, array.data() + at, element_bytes);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return out;
}

std::string tuple(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (const std::uint64_t extent : shape) text += std::to_string(extent) + ",";
  return text + ")";
}

}  // namespace

TEST_CASE("npy: an array in C order keeps the dataset contract in every version of the format",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const unsigned version = GENERATE(1U, 2U, 3U);
  const byte_vector array = test::counting_bytes(50 * 35);
  const auto file =
      folder.write("a.npy", npy_bytes(npy_dictionary("|u1", "(50, 5, 7)"), array, version));
  test::check_dataset_contract(open_npy(file, "x"), 50, {{"x", element_type::u8, {5, 7}}},
                               rows_of(array, 50));
}

TEST_CASE(
    "npy: an array in Fortran order keeps the dataset contract, sample after sample in C order",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const std::size_t element_bytes = GENERATE(1U, 2U, 4U, 8U);
  const bool reversed = GENERATE(false, true);
  const auto shape =
      GENERATE(std::vector<std::uint64_t>{7}, std::vector<std::uint64_t>{7, 1, 1},
               std::vector<std::uint64_t>{1, 5, 3}, std::vector<std::uint64_t>{31, 6},
               std::vector<std::uint64_t>{13, 4, 3, 5});
  const std::uint64_t elements =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>{});
  const byte_vector array = test::counting_bytes(elements * element_bytes);
  byte_vector payload = in_fortran_order(array, shape, element_bytes);
  if (reversed) payload = test::with_elements_reversed(std::move(payload), element_bytes);
  const std::string descr =
      (machine_is_little != reversed ? "<u" : ">u") + std::to_string(element_bytes);
  const auto opened = open_npy(
      folder.write("f.npy", npy_bytes(npy_dictionary(descr, tuple(shape), true), payload)), "x");
  CHECK(opened->fields()[0].shape == std::vector<std::uint64_t>(shape.begin() + 1, shape.end()));
  test::check_dataset_contract(opened, shape[0], opened->fields(), rows_of(array, shape[0]));
}

TEST_CASE("npy: Fortran order is undone in tiles wherever those end", "[dataset][host]") {
  const test::temporary_directory folder;
  // More samples than a tile is wide, and more elements than it is high.
  const std::vector<std::uint64_t> shape{40'001, 9, 11};
  const byte_vector array = test::counting_bytes(40'001 * 99);
  const auto file = folder.write("f.npy", npy_bytes(npy_dictionary("|u1", tuple(shape), true),
                                                    in_fortran_order(array, shape, 1)));
  const auto opened = open_npy(file, "x");
  const auto rows = opened->rows();
  REQUIRE(rows.size() == 1);  // transposed into memory
  CHECK(std::equal(rows[0].begin(), rows[0].end(), array.begin(), array.end()));
}

TEST_CASE("npy: an array in a file in C order needs no extra memory", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector array = test::counting_bytes(12);
  CHECK(open_npy(folder.write("c.npy", npy_bytes(npy_dictionary("|u1", "(3, 4)"), array)), "x")
            ->rows()
            .empty());
  CHECK(open_npy(folder.write("v.npy", npy_bytes(npy_dictionary("|u1", "(12,)", true), array)),
                 "x")
            ->rows()
            .empty());  // one dimension: both orders are one
}

TEST_CASE("npy: every type has its element_type, by either name, in either byte order",
          "[dataset][host]") {
  struct type_case {
    std::string descr;
    element_type type;
  };
  const auto one = GENERATE(values<type_case>(
      {{"b1", element_type::boolean}, {"u1", element_type::u8},  {"i1", element_type::i8},
       {"u2", element_type::u16},     {"i2", element_type::i16}, {"u4", element_type::u32},
       {"i4", element_type::i32},     {"u8", element_type::u64}, {"i8", element_type::i64},
       {"f2", element_type::f16},     {"f4", element_type::f32}, {"f8", element_type::f64},
       {"?", element_type::boolean},  {"B", element_type::u8},   {"b", element_type::i8},
       {"H", element_type::u16},      {"h", element_type::i16},  {"I", element_type::u32},
       {"i", element_type::i32},      {"L", element_type::u64},  {"l", element_type::i64},
       {"Q", element_type::u64},      {"q", element_type::i64},  {"e", element_type::f16},
       {"f", element_type::f32},      {"d", element_type::f64}}));
  const test::temporary_directory folder;
  const std::size_t bytes = size_bytes(one.type);
  const byte_vector array = test::counting_bytes(6 * bytes);
  // '=', '|' and no sign at all stand for the machine's order.
  for (const std::string order : {"<", ">", "=", "|", ""}) {
    CAPTURE(one.descr, order);
    const bool reversed = order == (machine_is_little ? ">" : "<");
    const byte_vector payload = reversed ? test::with_elements_reversed(array, bytes) : array;
    const auto opened = open_npy(
        folder.write("a", npy_bytes(npy_dictionary(order + one.descr, "(3, 2)"), payload)), "x");
    CHECK(opened->fields() == std::vector<field>{{"x", one.type, {2}}});
    CHECK(values_of<std::byte>(*opened) == array);
  }
}

TEST_CASE("npy: complex numbers are pairs, and raw values of 2 bytes are bfloat16",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::vector<float> pairs{1, 2, 3, 4, 5, 6, 7, 8};
  const auto open = [&](const std::string& dictionary, const test::byte_vector& bytes) {
    return open_npy(folder.write("a.npy", test::npy_bytes(dictionary, bytes)), "x");
  };
  for (const bool is_swapped : {false, true}) {
    const auto bytes = is_swapped ? test::with_elements_reversed(test::memory_of(pairs), 4)
                                  : test::memory_of(pairs);
    const auto set = open(test::npy_dictionary(is_swapped ? ">c8" : "<c8", "(2, 2)"), bytes);
    CHECK(set->size() == 2);
    CHECK(set->fields() == std::vector{field{"x", element_type::f32, {2, 2}}});
    CHECK(test::read_sample(*set, sample_index{1})[0] ==
          test::memory_of(std::vector<float>{5, 6, 7, 8}));
  }
  const auto wide = open(test::npy_dictionary("<c16", "(3,)", true), test::byte_vector(48));
  CHECK(wide->fields() == std::vector{field{"x", element_type::f64, {2}}});
  const std::vector<std::uint16_t> bits{0x3F80, 0x4000};
  for (const std::string descr : {"<V2", "|V2", "bfloat16"}) {
    const auto set = open(test::npy_dictionary(descr, "(2,)"), test::memory_of(bits));
    CHECK(set->fields() == std::vector{field{"x", element_type::bf16, {}}});
    CHECK(test::read_sample(*set, sample_index{1})[0] ==
          test::memory_of(std::vector<std::uint16_t>{0x4000}));
  }
}

TEST_CASE("npy: big-endian and little-endian files hold the values that they spell",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto open = [&](const std::string& descr, std::initializer_list<unsigned> payload) {
    return open_npy(
        folder.write("a", npy_bytes(npy_dictionary(descr, "(1,)"), test::bytes_of(payload))), "x");
  };
  CHECK(values_of<std::uint16_t>(*open(">u2", {1, 2})) == std::vector<std::uint16_t>{0x0102});
  CHECK(values_of<std::uint16_t>(*open("<u2", {1, 2})) == std::vector<std::uint16_t>{0x0201});
  CHECK(values_of<float>(*open(">f4", {0x3f, 0xc0, 0, 0})) == std::vector<float>{1.5F});
  CHECK(values_of<float>(*open("<f4", {0, 0, 0xc0, 0x3f})) == std::vector<float>{1.5F});
  CHECK(values_of<std::int64_t>(*open(">i8", {255, 255, 255, 255, 255, 255, 255, 254})) ==
        std::vector<std::int64_t>{-2});
}

TEST_CASE("npy: headers as others write them are read alike", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector array = test::counting_bytes(6);
  const std::string dictionary =
      GENERATE(as<std::string>{}, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }",
               "{'descr':'|u1','fortran_order':False,'shape':(3,2)}",
               "{\"shape\": (3, 2), \"fortran_order\": False, \"descr\": \"|u1\"}",
               " { 'shape' : ( 3 , 2 , ) , 'descr' : '|u1' , 'fortran_order' : False , } \t\n",
               "{'descr': '|u1', 'fortran_order': False, 'shape': (3L, 2L)}",
               "{'descr': '|u1',\n 'fortran_order': False,\n 'shape': (3, 2),\n}\n");
  CAPTURE(dictionary);
  const auto opened = open_npy(folder.write("a", npy_bytes(dictionary, array)), "x");
  CHECK(opened->size() == 3);
  CHECK(opened->fields() == std::vector<field>{{"x", element_type::u8, {2}}});
  CHECK(values_of<std::byte>(*opened) == array);
}

TEST_CASE("npy: several files are the fields of one dataset, in files and in memory",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector images = test::counting_bytes(20 * 6);
  const byte_vector labels = test::memory_of(std::vector<std::int32_t>(20, 77));
  const std::string fortran_images =
      folder.write("images.npy", npy_bytes(npy_dictionary("|u1", "(20, 2, 3)", true),
                                           in_fortran_order(images, {20, 2, 3}, 1)));
  const std::string native_labels =
      folder.write("labels.npy", npy_bytes(npy_dictionary("=i4", "(20,)"), labels));
  // The first is in memory, the second in its file; then each kind alone.
  const auto check = [&](const std::vector<npy_field>& files, bool image_first) {
    const field image{"image", element_type::u8, {2, 3}};
    const field label{"label", element_type::i32, {}};
    test::check_dataset_contract(
        open_npy(files), 20,
        image_first ? std::vector<field>{image, label} : std::vector<field>{label, image},
        [&](sample_index sample, std::size_t place) {
          return rows_of((place == 0) == image_first ? images : labels, 20)(sample, place);
        });
  };
  check({{fortran_images, "image"}, {native_labels, "label"}}, true);
  check({{native_labels, "label"}, {fortran_images, "image"}}, false);
  const std::string images_in_order =
      folder.write("c.npy", npy_bytes(npy_dictionary("|u1", "(20, 2, 3)"), images));
  check({{images_in_order, "image"}, {native_labels, "label"}}, true);
  CHECK(open_npy({{fortran_images, "a"}, {fortran_images, "b"}})->rows().size() == 2);
}

TEST_CASE("npy: files that hold different numbers of samples are refused, naming both",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string three =
      folder.write("3.npy", npy_bytes(npy_dictionary("|u1", "(3,)"), test::counting_bytes(3)));
  const std::string four =
      folder.write("4.npy", npy_bytes(npy_dictionary("|u1", "(4,)"), test::counting_bytes(4)));
  CHECK(test::message_of<dataset_error>([&] {
          (void)open_npy({{three, "a"}, {four, "b"}});
        }) ==
        four + ": field 'b': holds 4 samples, but " + three + " holds 3; use the files of one set");
  CHECK(test::message_of<usage_error>([&] {
          (void)open_npy({{three, "a"}, {three, "a"}});
        }) == "file dataset: fields 0 and 1 are both named 'a'; a batch finds a field by its name");
  CHECK(test::message_of<usage_error>([] { (void)open_npy(std::vector<npy_field>{}); }) ==
        "open_npy: there is no file to open");
}

TEST_CASE("npy: files that others wrote read as NumPy reads them", "[dataset][host]") {
  if (!test::find_test_data("npy/xtensor"))
    FEEDLINE_SKIP("no npy/xtensor: name its folder's parent in FEEDLINE_TEST_DATA");
  const auto open = [](const std::string& name) {
    return open_npy(*test::find_test_data("npy/xtensor/" + name + ".npy"), "x");
  };
  // The files called .be hold what those called .le do.
  for (const std::string end : {".le", ".be"})
    for (const std::string order : {"", "_fortran"}) {
      CAPTURE(end, order);
      const auto bools = open("bool" + order + end);
      CHECK(bools->fields() == std::vector<field>{{"x", element_type::boolean, {3, 3}}});
      CHECK(values_of<std::uint8_t>(*bools) ==
            std::vector<std::uint8_t>{0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1,
                                      0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0});
      const auto doubles = open("double" + order + end);
      CHECK(doubles->fields() == std::vector<field>{{"x", element_type::f64, {3, 3}}});
      CHECK(values_of<double>(*doubles) ==
            std::vector<double>{
                0.29731722517856973, 0.04380156762013887,  0.9474830830460288, 0.8502064289459269,
                0.5295861769706526,  0.059817202145132975, 0.7725325916361806, 0.4756423082040796,
                0.7027400461247965,  0.8599844697935561,   0.6116015763167233, 0.4443293883621484,
                0.255067649901883,   0.9742097648401262,   0.1545584203463619, 0.05873659214817728,
                0.661917637891905,   0.014488379360392156, 0.1759189951562422, 0.13850364598742082,
                0.9405942634163791,  0.7994180851587701,   0.5124431994624011, 0.5136479575134278,
                0.25721979162081987, 0.4160885847722037,   0.06255319041636886});
      const auto longs = open("unsignedlong" + order + end);
      CHECK(longs->fields() == std::vector<field>{{"x", element_type::u64, {}}});
      CHECK(values_of<std::uint64_t>(*longs) ==
            std::vector<std::uint64_t>{12, 14, 16, 18, 1234321});
      CHECK(values_of<std::int32_t>(*open("int" + end)) ==
            std::vector<std::int32_t>{3, 4, 5, 6, 7});
    }
}
