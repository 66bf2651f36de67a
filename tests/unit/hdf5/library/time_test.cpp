#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "detail/byte_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// One of HDF5's types of times. The library converts none: values are written as the file has
/// them.
struct time_type {
  std::string name;
  hid_t type;
  element_type element;
  bool is_big;

  [[nodiscard]] std::size_t bytes() const { return element == element_type::i32 ? 4 : 8; }
  /// Values as the file has them.
  [[nodiscard]] std::vector<std::byte> stored(std::vector<std::byte> values) const {
    if (is_big) detail::reverse_elements(values, bytes());
    return values;
  }
};

std::vector<time_type> time_types() {
  return {{"d32le", H5T_UNIX_D32LE, element_type::i32, false},
          {"d32be", H5T_UNIX_D32BE, element_type::i32, true},
          {"d64le", H5T_UNIX_D64LE, element_type::i64, false},
          {"d64be", H5T_UNIX_D64BE, element_type::i64, true}};
}

/// Contiguous, chunked, compressed, and what only the library reads.
std::vector<hdf5_layout> layouts() {
  return {{"contiguous"},
          chunked("chunks", {4}),
          chunked("deflate", {4},
                  [](hid_t creation) {
                    H5Pset_shuffle(creation);
                    H5Pset_deflate(creation, 6);
                  }),
          {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }}};
}

/// Times before and after 1970, as integers of a type's size.
std::vector<std::byte> times(const time_type& type, std::size_t count) {
  std::vector<std::byte> bytes(count * type.bytes());
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t second = 1'500'000'000 - static_cast<std::int64_t>(i) * 300'000'007;
    // PyTables stores seconds in the upper half, microseconds in the lower half.
    const std::int64_t value =
        type.bytes() == 4 ? second : second * (std::int64_t{1} << 32) + 250'000;
    std::memcpy(bytes.data() + i * type.bytes(), &value, type.bytes());  // copies the lower bytes
  }
  return bytes;
}

void check_field(const std::filesystem::path& file, const std::string& path, const field& spec,
                 const std::vector<std::byte>& values) {
  INFO(path);
  for (const std::size_t limit : {0U, 1U << 20}) {
    const auto dataset = open_hdf5(file, {{path}}, {.max_resident_bytes = limit});
    CHECK(dataset->fields() == std::vector<field>{spec});
    CHECK(samples_of(*dataset, 0) == values);
  }
}

}  // namespace

TEST_CASE("hdf5: times are the signed integers that the file has, in any layout and byte order",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  for (const auto& layout : layouts()) {
    writer.make_group(layout.name);
    for (const auto& type : time_types())
      writer.write(layout.name + "/" + type.name, type.type, {11}, type.type,
                   type.stored(times(type, 11)).data(), layout);
  }
  const auto file = writer.close();
  const log_capture log;
  for (const auto& layout : layouts())
    for (const auto& type : time_types())
      check_field(file, layout.name + "/" + type.name, {type.name, type.element, {}},
                  times(type, 11));
  CHECK(log.lines() == 4);  // only for the compact layout when it is not held in memory
  const auto listed = list_hdf5_fields(file);
  REQUIRE(listed.size() == 16);
  CHECK(listed[0].dataset == "/chunks/d32be");
  CHECK(listed[0].spec == field{"d32be", element_type::i32, {}});
  CHECK(listed[0].access == "chunks of 4 samples");

  std::int64_t first = 0;
  std::memcpy(&first, times(time_types()[3], 1).data(), sizeof first);
  CHECK(static_cast<double>(first >> 32) + 1e-6 * static_cast<std::int32_t>(first) ==
        1'500'000'000.25);
}

TEST_CASE("hdf5: times never written are the fill value, in either byte order", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto fill_of = [](const time_type& type) { return times(type, 1); };
  for (const auto& type : time_types()) {
    const auto fill = type.stored(fill_of(type));
    (void)writer.make(type.name, type.type, {5}, chunked("", {2}, [&](hid_t creation) {
                        require_hdf5(H5Pset_fill_value(creation, type.type, fill.data()) >= 0,
                                     "set a fill value");
                      }));
  }
  const auto file = writer.close();
  for (const auto& type : time_types()) {
    std::vector<std::byte> values;
    const auto fill = fill_of(type);
    for (int row = 0; row < 5; ++row) values.insert(values.end(), fill.begin(), fill.end());
    check_field(file, type.name, {type.name, type.element, {}}, values);
  }
}

TEST_CASE("hdf5: times in records and arrays read as others do", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  constexpr hsize_t two = 2;
  for (const auto& layout : layouts()) {
    writer.make_group(layout.name);
    for (const auto& type : time_types()) {
      const detail::hdf5_type_id pair{H5Tarray_create2(type.type, 1, &two)};
      const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 3 + 2 * type.bytes())};
      H5Tinsert(record.get(), "when", 3, pair.get());
      const detail::hdf5_type_id alone{H5Tcreate(H5T_COMPOUND, 2 * type.bytes())};
      H5Tinsert(alone.get(), "when", 0, pair.get());
      writer.write(layout.name + "/" + type.name, record.get(), {6}, alone.get(),
                   type.stored(times(type, 12)).data(), layout);
    }
  }
  const auto file = writer.close();
  for (const auto& layout : layouts())
    for (const auto& type : time_types())
      check_field(file, layout.name + "/" + type.name + "/when", {"when", type.element, {2}},
                  times(type, 12));
}

TEST_CASE("hdf5 ragged: sequences of times read as the integers that the file has",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto values_for = [](const time_type& type) {
    value_vector values;
    for (const std::size_t count : {3U, 0U, 5U, 1U}) values.push_back(times(type, count));
    return values;
  };
  for (const auto& layout : layouts()) {
    writer.make_group(layout.name);
    for (const auto& type : time_types()) {
      auto stored = values_for(type);
      for (auto& value : stored) value = type.stored(std::move(value));
      write_sequences(writer, layout.name + "/" + type.name, type.type, type.type, stored, layout);
    }
  }
  const auto file = writer.close();
  for (const auto& layout : layouts())
    for (const auto& type : time_types()) {
      INFO(layout.name << ' ' << type.name);
      const auto dataset = open_hdf5_ragged(file, {layout.name + "/" + type.name});
      CHECK(dataset->element() == field{type.name, type.element, {}});
      CHECK(values_of(*dataset) == values_for(type));
    }
}

TEST_CASE("hdf5: times of other sizes, or with bits that mean nothing, are refused",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const detail::hdf5_type_id longer{H5Tcopy(H5T_UNIX_D64LE)};
  const detail::hdf5_type_id narrow{H5Tcopy(H5T_UNIX_D64LE)};
  require_hdf5(H5Tset_size(longer.get(), 12) >= 0 && H5Tset_precision(narrow.get(), 48) >= 0,
               "make types of times");
  (void)writer.make("longer", longer.get(), {2});
  (void)writer.make("narrow", narrow.get(), {2});
  const auto file = writer.close();
  const auto refusal_of = [&](const std::string& name) {
    return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{name}}); });
  };
  CHECK(refusal_of("longer").starts_with(
      file.string() +
      ": field 'longer': its values are of HDF5 type time of 96 bits; a field can "
      "hold integers"));
  CHECK(refusal_of("narrow").starts_with(
      file.string() +
      ": field 'narrow': its values are of HDF5 type time of 64 bits, some of which "
      "are not used; a field can hold integers"));
}
