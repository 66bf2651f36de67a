#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/arrays.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const extent_vector extents{9, 10, 11};

std::vector<std::int32_t> values_of() {
  std::vector<std::int32_t> values(9 * 10 * 11);
  std::iota(values.begin(), values.end(), -5);
  return values;
}

void deflated(hid_t creation) {
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 1);
}

/// Compares random boxes of an array with the values that were written, as 64-bit integers.
void check_boxes(const array_ptr& array) {
  const auto values = values_of();
  REQUIRE(array->spec().shape == std::vector<std::uint64_t>{9, 10, 11});
  REQUIRE(array->spec().type == element_type::i32);
  std::mt19937 random{1};
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> begin;
    std::vector<std::uint64_t> count;
    std::vector<std::uint64_t> step;
    std::vector<std::ptrdiff_t> stride(3);
    for (const hsize_t extent : extents) {
      begin.push_back(random() % extent);
      step.push_back(1 + random() % 3);
      count.push_back(1 + random() % ((extent - 1 - begin.back()) / step.back() + 1));
    }
    std::ptrdiff_t bytes = 4;
    for (const std::size_t d : {1U, 2U, 0U}) {
      stride[d] = bytes;
      bytes *= static_cast<std::ptrdiff_t>(count[d]);
    }
    std::vector<std::byte> out(static_cast<std::size_t>(bytes));
    const array_box box{begin, count, step, stride, out.data()};
    array->read({&box, 1});
    for (std::uint64_t a = 0; a < count[0]; ++a)
      for (std::uint64_t b = 0; b < count[1]; ++b)
        for (std::uint64_t c = 0; c < count[2]; ++c) {
          std::int32_t value = 0;
          std::memcpy(&value,
                      out.data() + static_cast<std::ptrdiff_t>(a) * stride[0] +
                          static_cast<std::ptrdiff_t>(b) * stride[1] +
                          static_cast<std::ptrdiff_t>(c) * stride[2],
                      sizeof value);
          REQUIRE(value == values[((begin[0] + a * step[0]) * 10 + begin[1] + b * step[1]) * 11 +
                                  begin[2] + c * step[2]]);
        }
  }
}

}  // namespace

TEST_CASE("hdf5 arrays: boxes are the stored values, whatever the layout", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  const auto values = values_of();
  const std::vector<hdf5_layout> layouts{
      {"contiguous"},
      chunked("chunks", {4, 3, 5}, deflated),
      chunked("rows", {2, 10, 11}),  // unfiltered: rows are read one by one elsewhere
      chunked("one", {9, 10, 11}, deflated),
      chunked("small", {1, 1, 2}, deflated),
      {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }},
  };
  for (const auto& layout : layouts)
    for (const auto& [type, suffix] :
         {std::pair{H5T_STD_I32LE, "_le"}, std::pair{H5T_STD_I32BE, "_be"}}) {
      hdf5_layout named = layout;
      named.name += suffix;
      writer.write(named.name, type, extents, H5T_NATIVE_INT32, values.data(), named);
    }
  const auto file = writer.close();
  const log_capture log;
  for (const auto& layout : layouts)
    for (const std::string suffix : {"_le", "_be"}) {
      INFO(layout.name << suffix);
      check_boxes(open_hdf5_array(file, layout.name + suffix, {.max_host_cache_bytes = 2000}));
    }
  CHECK(contains(log.text(), "array 'compact_le' is read through the HDF5 library"));
  CHECK(open_hdf5_array(file, "chunks_le")->spec().chunk == std::vector<std::uint64_t>{4, 3, 5});
}

TEST_CASE("hdf5 arrays: what was never written is the fill value", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  const auto fill = [](hid_t creation) {
    const std::int16_t value = -7;
    H5Pset_fill_value(creation, H5T_NATIVE_INT16, &value);
  };
  (void)writer.make("none", H5T_STD_I16BE, {5, 6}, {"none", fill});
  auto some =
      writer.make("some", H5T_STD_I16BE, {5, 6}, chunked("some", {2, 4}, [&](hid_t creation) {
                    fill(creation);
                    deflated(creation);
                  }));
  const std::vector<std::int16_t> two(12, 3);
  writer.write_rows(some.get(), 0, 2, H5T_NATIVE_INT16, two.data());
  some = {};  // a dataset that is open keeps the file open for writing
  const auto file = writer.close();
  for (const std::string name : {"none", "some"}) {
    std::vector<std::int16_t> values(30);
    open_hdf5_array(file, name)->read_all(std::as_writable_bytes(std::span{values}));
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == (name == "some" && i < 12 ? 3 : -7));
  }
}

TEST_CASE("hdf5 arrays: a damaged chunk is named, and the sample that needs it",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  auto dataset =
      writer.make("x", H5T_STD_I32LE, {8, 4},
                  chunked("x", {4, 4}, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
  const std::vector<std::byte> bad(40, std::byte{0x55});
  writer.write_chunk(dataset.get(), {4, 0}, bad);
  dataset = {};
  const auto file = writer.close();
  const auto set = make_windows({{0, 2}}, {{"x", {open_hdf5_array(file, "x")}}});
  std::vector<std::byte> out(7 * 2 * 4 * 4);
  const std::span<std::byte> to{out};
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < 7; ++i) samples.push_back({i});
  const auto message = message_of<hdf5_error>([&] { set->read(samples, {&to, 1}); });
  INFO(message);
  CHECK(contains(message, "field 'x', sample 3"));
  CHECK(contains(message, "chunk 1 (40 bytes at byte"));
}

TEST_CASE("hdf5 arrays: MATLAB's rows lie along the last axis", "[dataset][host]") {
  const auto rows = find_test_data("found/second/matlab/rows.mat");
  if (!rows) FEEDLINE_SKIP("found/second/matlab/rows.mat is not there");
  const auto listed = list_hdf5_fields(rows->string(), {.conventions = value_conventions::ignore});
  REQUIRE(!listed.empty());
  const auto array = open_hdf5_array(rows->string(), listed.front().dataset);
  const auto set = make_windows({{.axis = -1, .keep_axis = false}}, {{"x", {array}}});
  CHECK(set->size() == array->spec().shape.back());
}

TEST_CASE("hdf5 arrays: NetCDF's files of different packing are one array once unpacked",
          "[dataset][host]") {
  std::vector<array_ptr> parts;
  for (const std::string name : {"t0.nc", "t1.nc"}) {
    const auto file = find_test_data("found/second/netcdf-packed/" + name);
    if (!file) FEEDLINE_SKIP("found/second/netcdf-packed is not there");
    const auto listed =
        list_hdf5_fields(file->string(), {.conventions = value_conventions::ignore});
    for (const auto& each : listed)
      if (const auto array = open_hdf5_array(file->string(), each.dataset);
          array->spec().packing.changes_values())
        parts.push_back(array);
  }
  REQUIRE(parts.size() == 2);
  CHECK(contains(message_of<usage_error>([&] { (void)concatenate_arrays(parts, 0); }),
                 "are packed differently"));
  const auto both = concatenate_arrays({unpack(parts[0], {.type = element_type::f64}),
                                        unpack(parts[1], {.type = element_type::f64})},
                                       0);
  std::size_t count = 1;
  for (const std::uint64_t extent : both->spec().shape) count *= extent;
  std::vector<double> values(count);
  both->read_all(std::as_writable_bytes(std::span{values}));
  for (const double value : values) {  // temperatures in kelvin, whatever the file
    CHECK(value > 200);
    CHECK(value < 350);
  }
}
