#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/arrays.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "hdf5/rows/found_array.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

template <class T>
std::vector<T> values_of(const dataset_ptr& data) {
  std::vector<T> values;
  for (std::uint64_t i = 0; i < data->size(); ++i) {
    const auto row = read_sample(*data, sample_index{i}).front();
    const std::size_t before = values.size();
    values.resize(before + row.size() / sizeof(T));
    std::memcpy(values.data() + before, row.data(), row.size());
  }
  return values;
}

/// The option to keep a dataset in its header.
hdf5_layout compact() {
  return {"", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }};
}

/// A date as h5py stores it.
detail::hdf5_type_id date_type(const char* tag) {
  detail::hdf5_type_id type{H5Tcreate(H5T_OPAQUE, 8)};
  require_hdf5(H5Tset_tag(type.get(), tag) >= 0, "set a tag");
  return type;
}

}  // namespace

TEST_CASE("hdf5: a dataset without dimensions is one sample, and an array of one number",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "single.h5"};
  const double value = 2.5;
  const detail::hdf5_type_id pair = [] {
    const hsize_t two = 2;
    return detail::hdf5_type_id{H5Tarray_create2(H5T_IEEE_F64BE, 1, &two)};
  }();
  const double both[] = {1.25, -7};
  const detail::hdf5_type_id both_type = [] {
    const hsize_t two = 2;
    return detail::hdf5_type_id{H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &two)};
  }();
  writer.write("plain", H5T_IEEE_F64LE, {}, H5T_NATIVE_DOUBLE, &value);
  writer.write("big", H5T_IEEE_F64BE, {}, H5T_NATIVE_DOUBLE, &value);
  writer.write("compact", H5T_IEEE_F64BE, {}, H5T_NATIVE_DOUBLE, &value, compact());
  (void)writer.make("unwritten", H5T_IEEE_F64BE, {});
  writer.write("pair", pair.get(), {}, both_type.get(), both);
  const auto file = writer.close();
  for (const std::size_t limit : {0U, 1U << 20}) {
    const hdf5_options how{.max_resident_bytes = limit};
    for (const char* const name : {"plain", "big", "compact"})
      CHECK(values_of<double>(open_hdf5(file, {{name}}, how)) == std::vector{2.5});
    CHECK(values_of<double>(open_hdf5(file, {{"unwritten"}}, how)) == std::vector{0.0});
    CHECK(values_of<double>(open_hdf5(file, {{"pair"}}, how)) == std::vector{1.25, -7.0});
  }
  for (const char* const name : {"plain", "big", "compact"}) {
    const auto array = open_hdf5_array(file, name);
    CHECK(array->spec().shape.empty());
    double read = 0;
    array->read_all(std::as_writable_bytes(std::span{&read, 1}));
    CHECK(read == 2.5);
  }
  CHECK(open_hdf5_array(file, "pair")->spec().shape == std::vector<std::uint64_t>{2});
}

TEST_CASE("hdf5: a single text is one value of variable length", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "text.h5"};
  const detail::hdf5_type_id text = string_type(H5T_CSET_UTF8);
  const char* const value = "a text";
  writer.write("plain", text.get(), {}, text.get(), &value);
  writer.write("compact", text.get(), {}, text.get(), &value, compact());
  const auto file = writer.close();
  for (const char* const name : {"plain", "compact"}) {
    const auto opened = open_hdf5_ragged(file, {name});
    REQUIRE(opened->size() == 1);
    REQUIRE(opened->length(sample_index{0}) == 6);
    std::string read(6, '\0');
    const element_run run{sample_index{0}, 0, std::as_writable_bytes(std::span{read})};
    opened->read({&run, 1});
    CHECK(read == value);
  }
}

TEST_CASE("hdf5: a dataset without samples is one of size 0, whatever its layout",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto bytes = various_bytes(6);
  const auto write = [&](const std::string& name, hsize_t rows) {
    hdf5_writer writer{folder.path() / name};
    writer.write("plain", H5T_STD_U8LE, {rows, 3}, H5T_NATIVE_UINT8, bytes.data());
    hdf5_layout chunks = chunked("", {2, 3}, [](hid_t creation) { H5Pset_deflate(creation, 1); });
    chunks.max_extents = {H5S_UNLIMITED, 3};
    writer.write("chunks", H5T_STD_U8LE, {rows, 3}, H5T_NATIVE_UINT8, bytes.data(), chunks);
    return writer.close();
  };
  const auto none = write("none.h5", 0);
  const auto two = write("two.h5", 2);
  for (const char* const name : {"plain", "chunks"}) {
    const auto empty = open_hdf5(none, {{name}});
    CHECK(empty->size() == 0);
    CHECK(empty->fields() == std::vector<field>{{name, element_type::u8, {3}}});
    const auto joined = concatenate({empty, open_hdf5(two, {{name}}), empty});
    const auto read = values_of<std::uint8_t>(joined);
    CHECK(std::memcmp(read.data(), bytes.data(), 6) == 0);
    CHECK(contains(message_of<hdf5_error>([&] { (void)open_hdf5_array(none, name); }),
                   "holds no values: its first dimension is 0"));
  }
  for (const auto& listing : list_hdf5_fields(none)) CHECK(listing.aside == "no samples");
}

TEST_CASE("hdf5: references to objects are their addresses, as the library returns them",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "references.h5"};
  writer.make_group("a");
  writer.make_group("b");
  std::vector<hobj_ref_t> values(5);
  for (std::size_t i = 0; i < values.size(); ++i)
    require_hdf5(H5Rcreate(&values[i], writer.id(), i % 2 == 0 ? "a" : "b", H5R_OBJECT, -1) >= 0,
                 "make a reference");
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 12)};
  H5Tinsert(record.get(), "to", 0, H5T_STD_REF_OBJ);
  H5Tinsert(record.get(), "id", 8, H5T_NATIVE_INT);
  std::vector<unsigned char> records(5 * 12);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(records.data() + i * 12, &values[i], 8);
  writer.write("x", H5T_STD_REF_OBJ, {5}, H5T_STD_REF_OBJ, values.data());
  writer.write("records", record.get(), {5}, record.get(), records.data());
  const auto file = writer.close();
  const std::vector<std::uint64_t> expected(values.begin(), values.end());
  CHECK(expected[0] == expected[2]);
  CHECK(expected[0] != expected[1]);
  for (const std::size_t limit : {0U, 1U << 20})
    for (const char* const name : {"x", "records/to"}) {
      const auto opened = open_hdf5(file, {{name}}, {.max_resident_bytes = limit});
      CHECK(opened->fields().front().type == element_type::u64);
      CHECK(values_of<std::uint64_t>(opened) == expected);
    }
  for (const auto& listing : list_hdf5_fields(file))
    CHECK(listing.aside == (listing.dataset == "/records/id" ? "" : "references"));
}

TEST_CASE("hdf5: dates of NumPy are counts, in either byte order, also in records",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "dates.h5"};
  std::vector<std::int64_t> values{0, 1'700'000'000'000'000'000, -3, INT64_MIN};
  std::vector<std::int64_t> swapped;
  for (const std::int64_t each : values)
    swapped.push_back(
        static_cast<std::int64_t>(__builtin_bswap64(static_cast<std::uint64_t>(each))));
  const bool is_little = std::endian::native == std::endian::little;
  const auto little = date_type("NUMPY:<M8[ns]");
  const auto big = date_type("NUMPY:>m8[s]");
  const auto bytes = date_type("NUMPY:|V8");
  writer.write("little", little.get(), {4}, little.get(), (is_little ? values : swapped).data());
  writer.write("big", big.get(), {4}, big.get(), (is_little ? swapped : values).data());
  writer.write("compact", big.get(), {4}, big.get(), (is_little ? swapped : values).data(),
               compact());
  writer.write("bytes", bytes.get(), {4}, bytes.get(), values.data());
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 8)};
  H5Tinsert(record.get(), "time", 0, big.get());
  writer.write("records", record.get(), {4}, record.get(), (is_little ? swapped : values).data());
  const auto file = writer.close();
  for (const std::size_t limit : {0U, 1U << 20}) {
    const hdf5_options how{.max_resident_bytes = limit};
    for (const char* const name : {"little", "big", "compact", "records/time"}) {
      const auto opened = open_hdf5(file, {{name}}, how);
      CHECK(opened->fields().front().type == element_type::i64);
      CHECK(values_of<std::int64_t>(opened) == values);
    }
    CHECK(open_hdf5(file, {{"bytes"}}, how)->fields() ==
          std::vector<field>{{"bytes", element_type::u8, {8}}});
  }
}

TEST_CASE("hdf5: a column that was found, and is not used, is closed under the library's lock",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  const double value = 2.5;
  writer.write("compact", H5T_IEEE_F64BE, {}, H5T_NATIVE_DOUBLE, &value, compact());
  const auto file = writer.close();
  std::optional<detail::hdf5_found_array> found;
  {
    const detail::hdf5_session hdf5;
    const detail::hdf5_file opened{hdf5, file, external_files::same_folder};
    detail::hdf5_open_context common;
    found = detail::find_hdf5_array(hdf5, opened, common, "compact");
  }
  REQUIRE(found->field.column);
  std::atomic<bool> is_held = false;
  std::atomic<bool> is_closed = false;
  bool was_alone = false;
  std::thread other{[&] {
    const detail::hdf5_session hdf5;
    is_held = true;
    // It is not closed meanwhile; a shorter time would only see less.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
    while (!is_closed && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    was_alone = !is_closed;
  }};
  while (!is_held) std::this_thread::yield();
  found.reset();
  is_closed = true;
  other.join();
  CHECK(was_alone);
}
