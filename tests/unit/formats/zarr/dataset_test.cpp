/// Zarr stores as datasets: bytes, orders, types, fill values, shards, groups, archives.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/zarr.hpp>

#include "formats/crc32c.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/zarr_folder.hpp"
#include "support/files/zip_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const zarr_options nothing_resident{.max_resident_bytes = 0};

std::string list_of(const std::string& codecs) {
  return '[' + codecs + ']';
}

/// Sums after bytes, as the codec crc32c appends them.
byte_vector with_crc(byte_vector bytes) {
  const auto sum = memory_of<std::uint32_t>({detail::crc32c(bytes)});
  bytes.insert(bytes.end(), sum.begin(), sum.end());
  return bytes;
}

byte_vector operator+(byte_vector a, const byte_vector& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Row i of 5 rows of 3 x i16: i * 3, i * 3 + 1, i * 3 + 2.
byte_vector row_of_three(std::uint64_t row) {
  const auto first = static_cast<std::int16_t>(row * 3);
  return memory_of<std::int16_t>(
      {first, static_cast<std::int16_t>(first + 1), static_cast<std::int16_t>(first + 2)});
}

void check_rows_of_three(const std::string& path, const zarr_options& options) {
  check_dataset_contract(
      open_zarr(path, {{"", "x"}}, options), 5, {{"x", element_type::i16, {3}}},
      [](sample_index sample, std::size_t) { return row_of_three(sample.value); });
}

byte_vector all_rows(std::uint64_t begin, std::uint64_t end) {
  byte_vector rows;
  for (std::uint64_t row = begin; row < end; ++row) rows = rows + row_of_three(row);
  return rows;
}

}  // namespace

TEST_CASE("zarr: the checksum is CRC-32C", "[dataset][host]") {
  const std::string digits = "123456789";
  CHECK(detail::crc32c(std::as_bytes(std::span{digits})) == 0xe3069283);
}

TEST_CASE("zarr: rows of whole chunks, resident, cached and decoded one by one",
          "[dataset][host]") {
  const zarr_folder store;
  const auto options =
      GENERATE(as<zarr_options>{}, zarr_options{}, zarr_options{.max_resident_bytes = 0},
               zarr_options{.max_host_cache_bytes = 1, .max_resident_bytes = 0});
  const int rows = GENERATE(1, 2, 5);
  store.put("zarr.json", zarr_v3("[5, 3]", '[' + std::to_string(rows) + ", 3]", "\"int16\"",
                                 list_of(zarr_bytes)));
  for (std::uint64_t row = 0, chunk = 0; row < 5; row += static_cast<std::uint64_t>(rows), ++chunk)
    store.put("c/" + std::to_string(chunk) + "/0",
              all_rows(row, row + static_cast<std::uint64_t>(rows)));
  check_rows_of_three(store.path(), options);
}

TEST_CASE("zarr: chunks that split rows, in C and Fortran order and either order of bytes",
          "[dataset][host]") {
  const zarr_folder store;
  const bool is_fortran = GENERATE(true, false);
  const bool is_big = GENERATE(true, false);
  const char separator = GENERATE('.', '/');
  store.put(".zarray",
            zarr_v2("[5, 3]", "[2, 2]", is_big ? "\">i2\"" : "\"<i2\"",
                    std::string{R"(, "filters": null, "order": ")"} + (is_fortran ? 'F' : 'C') +
                        R"(", "dimension_separator": ")" + separator + '"'));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      std::vector<std::int16_t> values;
      for (int k = 0; k < 4; ++k) {
        const int row = 2 * i + (is_fortran ? k % 2 : k / 2);
        const int column = 2 * j + (is_fortran ? k / 2 : k % 2);
        values.push_back(static_cast<std::int16_t>(row < 5 && column < 3 ? row * 3 + column : -1));
      }
      byte_vector bytes = memory_of(values);
      if (is_big) bytes = with_elements_reversed(bytes, 2);
      store.put(std::to_string(i) + separator + std::to_string(j), bytes);
    }
  check_rows_of_three(store.path(), nothing_resident);
}

TEST_CASE("zarr: an array whose axes were transposed before it was stored", "[dataset][host]") {
  const zarr_folder store;
  store.put("zarr.json",
            zarr_v3("[5, 3]", "[5, 3]", "\"int16\"",
                    list_of(R"({"name": "transpose", "configuration": {"order": [1, 0]}}, )" +
                            zarr_bytes)));
  std::vector<std::int16_t> values;
  for (int column = 0; column < 3; ++column)
    for (int row = 0; row < 5; ++row) values.push_back(static_cast<std::int16_t>(row * 3 + column));
  store.put("c/0/0", memory_of(values));
  check_rows_of_three(store.path(), nothing_resident);
}

TEST_CASE("zarr: shards with the index at either end, missing chunks and chunks past the array",
          "[dataset][host]") {
  const zarr_folder store;
  const bool at_end = GENERATE(true, false);
  const bool has_sum = GENERATE(true, false);
  const std::string sum = R"({"name": "crc32c"})";
  store.put("zarr.json",
            zarr_v3("[5, 3]", "[4, 3]", "\"int16\"",
                    list_of(R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3],
      "index_location": ")" +
                            std::string{at_end ? "end" : "start"} + R"(", "codecs": [)" +
                            zarr_bytes + ", " + sum + R"(], "index_codecs": [)" + zarr_bytes +
                            (has_sum ? ", " + sum : "") + "]}}"),
                    "7"));
  constexpr std::uint64_t missing = ~std::uint64_t{0};
  const std::uint64_t index_bytes = 64 + (has_sum ? 4 : 0);
  const std::uint64_t begin = at_end ? 0 : index_bytes;
  const auto index = [&](const std::vector<std::uint64_t>& numbers) {
    return has_sum ? with_crc(memory_of(numbers)) : memory_of(numbers);
  };
  const auto shard = [&](const byte_vector& chunks, const std::vector<std::uint64_t>& numbers) {
    return at_end ? chunks + index(numbers) : index(numbers) + chunks;
  };
  // Row 2 is missing; rows lie in another order than they are in.
  store.put("c/0/0",
            shard(with_crc(row_of_three(3)) + with_crc(row_of_three(0)) + with_crc(row_of_three(1)),
                  {begin + 10, 10, begin + 20, 10, missing, missing, begin, 10}));
  // Row 5 is past the array, and no chunk of it is read.
  store.put("c/1/0", shard(with_crc(row_of_three(4)) + byte_vector(1),
                           {begin, 10, begin + 10, 1, missing, missing, missing, missing}));
  const auto data = open_zarr(store.path(), {{"", "x"}}, nothing_resident);
  for (std::uint64_t row = 0; row < 5; ++row)
    CHECK(read_sample(*data, {row}).front() ==
          (row == 2 ? memory_of<std::int16_t>({7, 7, 7}) : row_of_three(row)));
}

TEST_CASE("zarr: what was never written has the fill value of its type", "[dataset][host]") {
  struct fill_case {
    std::string type;
    std::string value;
    byte_vector bytes;
  };
  const auto of = GENERATE(values<fill_case>({
      {"bool", "true", memory_of<std::uint8_t>({1})},
      {"int8", "-128", memory_of<std::int8_t>({-128})},
      {"uint64", "18446744073709551615", memory_of<std::uint64_t>({~std::uint64_t{0}})},
      {"int64", "-9223372036854775808", memory_of<std::uint64_t>({std::uint64_t{1} << 63U})},
      {"int16", "3.0", memory_of<std::int16_t>({3})},
      {"float32", "1.5", memory_of<float>({1.5F})},
      {"float32", "\"0x7fc00001\"", memory_of<std::uint32_t>({0x7fc00001})},
      {"float32", "\"NaN\"", memory_of<std::uint32_t>({0x7fc00000})},
      {"float32", "NaN", memory_of<std::uint32_t>({0x7fc00000})},
      {"float64", "\"-Infinity\"", memory_of<std::uint64_t>({0xfff0000000000000})},
      {"float16", "\"Infinity\"", memory_of<std::uint16_t>({0x7c00})},
      {"bfloat16", "1", memory_of<std::uint16_t>({0x3f80})},
      {"complex64", "[1, \"NaN\"]", memory_of<std::uint32_t>({0x3f800000, 0x7fc00000})},
  }));
  const zarr_folder store;
  store.put("zarr.json", zarr_v3("[4]", "[2]", '"' + of.type + '"', list_of(zarr_bytes), of.value));
  const auto data = open_zarr(store.path(), {{""}}, nothing_resident);
  CAPTURE(of.type, of.value);
  CHECK(read_sample(*data, {3}).front() == of.bytes);
}

TEST_CASE("zarr: codecs are undone in turn", "[dataset][host]") {
  const zarr_folder store;
  store.put(".zarray", zarr_v2("[4]", "[4]", "\"<i2\"",
                               R"(, "filters": [{"id": "delta", "dtype": "<i2", "astype": "<i2"},
                                  {"id": "shuffle", "elementsize": 2}, {"id": "crc32c"}])"));
  // 5, 300, 44, 44: differences 5, 295, -256, 0.
  store.put("0", with_crc(memory_of<std::uint8_t>({5, 0x27, 0, 0, 0, 1, 0xff, 0})));
  const auto data = open_zarr(store.path(), {{"", "x"}});
  CHECK(read_samples(*data, {{0}, {1}, {2}, {3}}).front() ==
        memory_of<std::int16_t>({5, 300, 44, 44}));
}

TEST_CASE("zarr: numbers that were scaled are those of NumPy", "[dataset][host]") {
  const zarr_folder store;
  store.put(".zarray", zarr_v2("[3]", "[3]", "\"<f4\"",
                               R"(, "filters": [{"id": "fixedscaleoffset", "dtype": "<f4",
                                  "astype": "<i2", "scale": 10, "offset": 0.1}])"));
  store.put("0", memory_of<std::int16_t>({1, -3, 1000}));
  const auto data = open_zarr(store.path(), {{"", "x"}});
  const auto scaled = [](double value) { return static_cast<float>(value / 10 + 0.1); };
  CHECK(read_samples(*data, {{0}, {1}, {2}}).front() ==
        memory_of<float>({scaled(1), scaled(-3), scaled(1000)}));
}

TEST_CASE("zarr: a group's arrays of one first dimension are the fields of a sample",
          "[dataset][host]") {
  const zarr_folder store;
  const std::string named = R"(, "dimension_names": ["time", "x"])";
  const auto put = [&](const std::string& path, const std::string& document) {
    store.put(path + "/zarr.json", document);
  };
  store.put("zarr.json", zarr_group);
  put("a", zarr_group);
  put("b", zarr_group);
  put("a/t", zarr_v3("[4, 2]", "[4, 2]", "\"float32\"", list_of(zarr_bytes), "1", named));
  put("b/t", zarr_v3("[4]", "[4]", "\"float32\"", list_of(zarr_bytes), "2"));
  put("b/label", zarr_v3("[4]", "[4]", "\"uint8\"", list_of(zarr_bytes), "3"));
  put("lat", zarr_v3("[6]", "[6]", "\"float32\"", list_of(zarr_bytes), "4",
                     R"(, "dimension_names": ["lat"])"));
  put("four", zarr_v3("[4]", "[4]", "\"float32\"", list_of(zarr_bytes), "4",
                      R"(, "dimension_names": ["level"])"));
  put("single", zarr_v3("[]", "[]", "\"float32\"", list_of(zarr_bytes)));
  put("text", zarr_v3("[4]", "[4]", "\"string\"", list_of(zarr_bytes), "\"\""));

  CHECK(detect_format(store.path()) == "zarr");
  const auto data = open(store.path());
  CHECK(data->size() == 4);
  CHECK(data->fields() == std::vector<field>{{"a/t", element_type::f32, {2}},
                                             {"label", element_type::u8, {}},
                                             {"b/t", element_type::f32, {}}});
  CHECK(read_sample(*data, {3})[1] == memory_of<std::uint8_t>({3}));
  CHECK(open(store.path(), {.fields = {"/lat"}})->size() == 6);
  CHECK(open(store.path(), {.like = "four"})->fields().size() == 3);
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)open(store.path(), {.fields = {"b/t", "lat"}});
                 }),
                 "field 'lat': holds 6 samples (lat: float32[]), but 'b/t' holds 4"));
  CHECK(contains(message_of<dataset_error>([&] { (void)open(store.path(), {.fields = {"c"}}); }),
                 "has no array of this path; there are: a/t, b/label, b/t, four, lat, single, "
                 "text"));

  const auto listed = list_fields(store.path());
  REQUIRE(listed.size() == 7);
  CHECK(listed[1].name == "b/label");
  CHECK(listed[1].spec == field{"label", element_type::u8, {}});
  CHECK(listed[1].samples == 4);
  CHECK(listed[5].left_out == "a single value");
  CHECK(contains(listed[6].left_out, "is of type \"string\""));
}

TEST_CASE("zarr: the code of the guide", "[dataset][host]") {
  const zarr_folder folder;
  folder.put("zarr.json", zarr_group);
  folder.put("levels/zarr.json", zarr_group);
  const std::string array = zarr_v3("[4, 2]", "[4, 2]", "\"float32\"", list_of(zarr_bytes), "1");
  folder.put("t2m/zarr.json", array);
  folder.put("levels/q/zarr.json", array);
  const std::string store = folder.path();
  // [opening]
  auto all = feedline::open(store);  // its content tells the format
  auto two = feedline::open_zarr(store, {{"t2m"}, {"levels/q", "humidity"}});
  // [/opening]
  CHECK(all->fields().size() == 2);
  CHECK(two->fields()[1].name == "humidity");
}

TEST_CASE("zarr: consolidated metadata list the arrays, and no other", "[dataset][host]") {
  const zarr_folder store;
  const std::string array = zarr_v3("[2]", "[2]", "\"uint8\"", list_of(zarr_bytes), "9");
  SECTION("of version 3") {
    store.put("zarr.json", zarr_group.substr(0, zarr_group.size() - 1) +
                               R"(, "consolidated_metadata": {"kind": "inline",
        "must_understand": false, "metadata": {"g/x": )" +
                               array + ", \"g\": " + zarr_group + "}}}");
    store.put("other/zarr.json", array);
  }
  SECTION("of version 2") {
    store.put(".zmetadata",
              R"({"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2},
        "g/.zgroup": {"zarr_format": 2}, "g/x/.zattrs": {"_FillValue": NaN},
        "g/x/.zarray": )" +
                  zarr_v2("[2]", "[2]", "\"|u1\"", "", "null", "9") + "}}");
    store.put("g/x/.zarray", zarr_v2("[2]", "[2]", "\"|u1\"", "", "null", "9"));
    store.put(".zgroup", R"({"zarr_format": 2})");
    store.put("other/.zarray", zarr_v2("[2]", "[2]", "\"|u1\""));
  }
  const auto listed = list_fields(store.path());
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].name == "g/x");
}

TEST_CASE("zarr: a store in a zip archive", "[dataset][host]") {
#ifndef FEEDLINE_TEST_NPZ
  FEEDLINE_SKIP("feedline was built without libzip");
#endif
  const temporary_directory folder;
  const auto text = [](const std::string& content) {
    const auto bytes = std::as_bytes(std::span{content});
    return byte_vector{bytes.begin(), bytes.end()};
  };
  const std::string array = zarr_v3("[5, 3]", "[2, 3]", "\"int16\"", list_of(zarr_bytes));
  std::vector<zip_entry> members{{"zarr.json", text(array)},
                                 {"c/0/0", all_rows(0, 2)},
                                 {"c/1/0", all_rows(2, 4)},
                                 {"c/2/0", all_rows(4, 6)}};
  SECTION("as zarr-python writes it") {}
  SECTION("with the metadata last") {
    std::rotate(members.begin(), members.begin() + 1, members.end());
  }
  const std::string file = folder.write("y.zarr.zip", zip_bytes(members));
  CHECK(detect_format(file) == "zarr");
  CHECK(open(file)->fields().front().name == "y");
  check_rows_of_three(file, nothing_resident);

  members[2].compressed = true;
  const std::string packed = folder.write("packed.zip", zip_bytes(members));
  CHECK(contains(
      message_of<dataset_error>([&] {
        (void)read_samples(*open_zarr(packed, {{""}}, nothing_resident), {{0}, {1}, {2}, {3}, {4}});
      }),
      "is compressed or encrypted by the archive itself"));
}
