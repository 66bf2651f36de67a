#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/formats/zarr.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/zarr_folder.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::string int16_type = R"("int16")";

template <class Number>
std::vector<Number> unpacked(const array_ptr& array) {
  const auto made = unpack(array);
  CHECK(made->spec().type == element_type_of<Number>());
  std::vector<Number> values(made->spec().shape[0]);
  made->read_all(std::as_writable_bytes(std::span{values}));
  return values;
}

/// A store of one array of version 3, in one chunk.
template <class Stored>
void put_v3(const zarr_folder& store, const std::string& type, const std::vector<Stored>& values,
            const std::string& attributes) {
  const std::string extent = '[' + std::to_string(values.size()) + ']';
  store.put("zarr.json", zarr_v3(extent, extent, type, '[' + zarr_bytes + ']', "0",
                                 R"(, "attributes": )" + attributes));
  store.put("c/0", std::as_bytes(std::span{values}));
}

}  // namespace

// tests/python/datasets/test_zarr.py compares with xarray itself.
TEST_CASE("zarr: unpack applies the attributes of version 3", "[arrays][host]") {
  const zarr_folder store;
  put_v3<std::int16_t>(store, int16_type, {-1, 5, 100, 7},
                       R"({"scale_factor": 0.5, "add_offset": [10], "_FillValue": 5,
                           "missing_value": [7, "NaN"]})");
  const auto array = open_zarr_array(store.path(), "");
  const value_packing& how = array->spec().packing;
  CHECK(how.scale_factor == value_packing::number{0.5, false});
  CHECK(how.add_offset == value_packing::number{10, false});
  CHECK(how.missing == std::vector<double>{7, 5});
  const auto values = unpacked<double>(array);
  CHECK(values[0] == 9.5);
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == 60);
  CHECK(std::isnan(values[3]));
}

TEST_CASE("zarr: a floating-point _FillValue of version 3 is binary64 in base64",
          "[arrays][host]") {
  const zarr_folder store;
  // struct.pack("<d", -9999.0)
  put_v3<float>(store, R"("float32")", {-9999, 2}, R"({"_FillValue": "AAAAAICHw8A="})");
  const auto values = unpacked<float>(open_zarr_array(store.path(), ""));
  CHECK(std::isnan(values[0]));
  CHECK(values[1] == 2);
  for (const char* const none : {"\"AAAA\"", "\"?\"", "\"AAAAAAAA+H8=\"", "null", "{}"}) {
    put_v3<float>(store, R"("float32")", {-9999, 2},
                  std::string{R"({"_FillValue": )"} + none + ", \"scale_factor\": \"2\"}");
    const auto packing = open_zarr_array(store.path(), "")->spec().packing;
    CHECK(packing == value_packing{});
  }
}

TEST_CASE("zarr: the fill value of version 2 stands for missing values, without a warning",
          "[arrays][host]") {
  const zarr_folder store;
  const std::vector<std::int8_t> values{-1, 0, 3};
  store.put(".zarray", zarr_v2("[3]", "[3]", R"("|i1")"));
  store.put("0", std::as_bytes(std::span{values}));
  const auto array = open_zarr_array(store.path(), "");
  CHECK(array->spec().packing.missing == std::vector<double>{0});
  auto read = unpacked<float>(array);
  CHECK(read[0] == -1);
  CHECK(std::isnan(read[1]));
  {
    const log_capture log;
    (void)make_windows({{0}}, {{"x", {array}}});
    CHECK(log.lines() == 0);
  }
  store.put(".zattrs", R"({"_Unsigned": "true", "scale_factor": 2})");
  const auto scaled = open_zarr_array(store.path(), "");
  CHECK(unpacked<double>(scaled)[0] == 510);
  const log_capture log;
  (void)make_windows({{0}}, {{"x", {scaled}}});
  CHECK(contains(log.text(), "is read as it is stored: its attributes scale_factor, add_offset"));
  store.put(".zarray", zarr_v2("[3]", "[3]", R"("|i1")", "", "null", "null"));
  CHECK(open_zarr_array(store.path(), "")->spec().packing.missing.empty());
}

TEST_CASE("zarr: a warning names packed numbers that are read as rows", "[dataset][host]") {
  const zarr_folder store;
  put_v3<std::int16_t>(store, int16_type, {1, 2}, R"({"scale_factor": 1.0, "add_offset": 0})");
  const log_capture log;
  (void)open_zarr(store.path(), {{""}});
  CHECK(log.lines() == 0);
  put_v3<std::int16_t>(store, int16_type, {1, 2}, R"({"add_offset": 273.15})");
  (void)open_zarr(store.path(), {{""}});
  CHECK(contains(log.text(), "holds packed numbers"));
}
