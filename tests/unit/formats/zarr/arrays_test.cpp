/// Zarr's arrays of N dimensions: boxes of chunks that cut them.

#include <feedline/arrays/array_source.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/zarr_folder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE(
    "zarr arrays: boxes of chunks in Fortran order, in both orders of bytes, with missing ones",
    "[arrays][host]") {
  const zarr_folder store;
  const bool is_big = GENERATE(true, false);
  store.put(".zarray", zarr_v2("[5, 3]", "[2, 2]", is_big ? "\">i2\"" : "\"<i2\"",
                               R"(, "order": "F")", "null", "-7"));
  store.put(".zattrs", R"({"_ARRAY_DIMENSIONS": ["time", "x"]})");
  std::vector<std::int16_t> all(15, -7);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      if (i == 1 && j == 1) continue;
      std::vector<std::int16_t> values;
      for (int k = 0; k < 4; ++k) {
        const int row = 2 * i + k % 2;
        const int column = 2 * j + k / 2;
        values.push_back(static_cast<std::int16_t>(row * 3 + column));
        if (row < 5 && column < 3) all[static_cast<std::size_t>(row * 3 + column)] = values.back();
      }
      byte_vector bytes = memory_of(values);
      if (is_big) bytes = with_elements_reversed(bytes, 2);
      store.put(std::to_string(i) + '.' + std::to_string(j), bytes);
    }
  const array_ptr array = open_zarr_array(store.path(), "");
  CHECK(array->spec().dimensions == std::vector<std::string>{"time", "x"});
  CHECK(array->spec().chunk == std::vector<std::uint64_t>{2, 2});
  byte_vector read(30);
  array->read_all(read);
  CHECK(read == memory_of(all));

  // Rows 1, 3 and columns 2, 1.
  const std::array<std::uint64_t, 2> begin{1, 1};
  const std::array<std::uint64_t, 2> count{2, 2};
  const std::array<std::uint64_t, 2> step{2, 1};
  const std::array<std::ptrdiff_t, 2> stride{4, -2};
  byte_vector part(8);
  const array_box box{begin, count, step, stride, part.data() + 2};
  array->read({&box, 1});
  CHECK(part == memory_of<std::int16_t>({all[5], all[4], all[11], all[10]}));
}

TEST_CASE("zarr arrays: two dimensions of one name have none, and a path may end in a slash",
          "[arrays][host]") {
  const zarr_folder store;
  store.put("covariance/zarr.json",
            zarr_v3("[2, 2, 3]", "[2, 2, 3]", "\"uint8\"", R"(["bytes"])", "7",
                    R"(, "dimension_names": ["state", "state", "time"])"));
  for (const char* const path : {"covariance", "/covariance/"}) {
    const array_ptr array = open_zarr_array(store.path(), path);
    CHECK(array->spec().name == "covariance");
    CHECK(array->spec().dimensions == std::vector<std::string>{"", "", "time"});
    byte_vector read(12);
    array->read_all(read);
    CHECK(read == byte_vector(12, std::byte{7}));
  }
}

TEST_CASE("zarr arrays: those whose coordinates differ are not one grid", "[arrays][host]") {
  const auto put = [](const zarr_folder& store, const std::vector<float>& times,
                      const std::string& units) {
    const auto named = [](const std::string& names) {
      return R"(, "dimension_names": [)" + names + ']';
    };
    const std::string type = "\"float32\"";
    const std::string codecs = '[' + zarr_bytes + ']';
    store.put("a/time/zarr.json",
              zarr_v3("[3]", "[3]", type, codecs, "0",
                      named("\"time\"") + R"(, "attributes": {"units": ")" + units + "\"}"));
    store.put("a/time/c/0", memory_of(times));
    store.put("a/t/zarr.json",
              zarr_v3("[3, 2]", "[3, 2]", type, codecs, "0", named("\"time\", \"x\"")));
  };
  const zarr_folder first;
  const zarr_folder same;
  const zarr_folder later;
  const zarr_folder year;
  const zarr_folder broken;
  put(first, {0, 6, 12}, "h");
  put(same, {0, 6, 12}, "h");
  put(later, {0, 6, 13}, "h");
  put(year, {0, 6, 12}, "s");
  put(broken, {0, 6}, "h");
  const auto windows_of = [&](const zarr_folder& other) {
    return make_windows({{"time"}}, {{"t", {open_zarr_array(first.path(), "a/t")}},
                                     {"u", {open_zarr_array(other.path(), "a/t")}}})
        ->size();
  };
  CHECK(windows_of(same) == 3);
  CHECK(contains(message_of<usage_error>([&] { windows_of(later); }),
                 "different coordinates along axis 'time': element 2 is at 12 h in " +
                     first.path() + ": a/time, and at 13 h in"));
  CHECK(contains(message_of<usage_error>([&] { windows_of(year); }), "and at 0 s in"));
  const log_capture log;
  CHECK(windows_of(broken) == 3);
  CHECK(contains(log.text(), "cannot be read, so that arrays are not compared"));
}

TEST_CASE("zarr arrays: a damaged chunk is named, without a sample", "[arrays][host]") {
  const zarr_folder store;
  store.put("x/zarr.json",
            zarr_v3("[4]", "[2]", "\"complex64\"", '[' + zarr_bytes + ']', "[1, 1]"));
  store.put("x/c/1", byte_vector(3));
  const array_ptr array = open_zarr_array(store.path(), "x");
  CHECK(array->spec().shape == std::vector<std::uint64_t>{4, 2});
  byte_vector read(32);
  CHECK(contains(message_of<dataset_error>([&] { array->read_all(read); }),
                 "/x/c/1: field 'x': chunk (1) of 3 bytes: does not decode"));
  CHECK(contains(message_of<dataset_error>([&] { (void)open_zarr_array(store.path(), "y"); }),
                 "has no array of this path"));
}
