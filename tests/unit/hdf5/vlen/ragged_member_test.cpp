#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequence_records.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Checks all members of a dataset against what was written and against the library.
void check_members(const fs::path& file, const std::string& name, const sequence_records& values,
                   std::size_t rows) {
  const auto check = [&](const std::vector<std::string>& member, const field& element,
                         value_vector expected) {
    std::string path = name;
    for (const auto& part : member) path += '/' + part;
    INFO(path);
    expected.resize(rows);
    const auto dataset = open_hdf5_ragged(file, {path});
    CHECK(dataset->element() == element);
    const auto read = values_of(*dataset);
    CHECK(read == expected);
    CHECK(read == values_by_library(file, name, member));
  };
  check({"hits"}, {"hits", element_type::u16, {}}, values.hits);
  check({"name"}, {"name", element_type::u8, {}}, values.names);
  check({"point", "boxes"}, {"boxes", element_type::f32, {4}}, values.boxes);
}

std::string refusal_of(const fs::path& file, const std::string& name) {
  return message_of<hdf5_error>([&] { (void)open_hdf5_ragged(file, {name}); });
}

void shuffle_and_deflate(hid_t creation) {
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
}

}  // namespace

TEST_CASE("hdf5 ragged: members of records read as the library reads them, in any layout",
          "[dataset][host]") {
  const temporary_directory folder;
  const std::vector<hdf5_layout> layouts{{"contiguous"},
                                         chunked("chunks", {7}),
                                         chunked("deflate", {7}, shuffle_and_deflate),
                                         chunked("single", {1}, shuffle_and_deflate),
                                         chunked("one", {45}, shuffle_and_deflate)};
  constexpr std::size_t rows = 45;  // five are never written
  const sequence_records values{40};
  hdf5_writer writer{folder.path() / "x.h5"};
  for (const std::size_t gap : {0U, 4U})
    for (const auto& layout : layouts)
      write_records(writer, layout.name + std::to_string(gap), values,
                    stored_record_type(gap).get(), rows, layout);
  const auto file = writer.close();
  const log_capture log;
  for (const std::string gap : {"0", "4"})
    for (const auto& layout : layouts) check_members(file, layout.name + gap, values, rows);
  CHECK(log.text().empty());
  CHECK(open_hdf5_ragged(file, {"chunks0/point//boxes", "target"})->element().name == "target");
}

TEST_CASE("hdf5 ragged: members of records are found after user blocks, by addresses of any size",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto options = GENERATE(hdf5_writer::file_options{.userblock = 512},
                                hdf5_writer::file_options{.userblock = 2048, .latest_format = true},
                                hdf5_writer::file_options{.offset_bytes = 4, .length_bytes = 4},
                                hdf5_writer::file_options{.offset_bytes = 8, .length_bytes = 2});
  CAPTURE(options.userblock, options.offset_bytes, options.length_bytes);
  const sequence_records values{20};
  hdf5_writer writer{folder.path() / "x.h5", options};
  write_records(writer, "contiguous", values, stored_record_type(0).get(), 20);
  write_records(writer, "chunks", values, stored_record_type(0).get(), 20, chunked("", {3}));
  const auto file = writer.close();
  const log_capture log;
  check_members(file, "contiguous", values, 20);
  check_members(file, "chunks", values, 20);
  CHECK(log.text().empty());
}

TEST_CASE("hdf5 ragged: values of records never written are empty, or the dataset's fill value",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto type = stored_record_type(0);
  const auto memory = sequence_record_type();
  const auto filled_with = [&](const sequence_record& fill) {
    return chunked("", {4}, [&](hid_t creation) {
      require_hdf5(H5Pset_fill_value(creation, memory.get(), &fill) >= 0, "set a fill value");
    });
  };
  const sequence_record of_number{7, {0, nullptr}, nullptr, {1.5, {0, nullptr}}};
  const sequence_record of_name{7, {0, nullptr}, "none", {1.5, {0, nullptr}}};
  hdf5_writer writer{folder.path() / "x.h5"};
  (void)writer.make("contiguous", type.get(), {10});
  (void)writer.make("chunked", type.get(), {10}, chunked("", {4}));
  (void)writer.make("number", type.get(), {10}, filled_with(of_number));
  (void)writer.make("name", type.get(), {10}, filled_with(of_name));
  const auto file = writer.close();
  {
    const log_capture log;
    for (const std::string name : {"contiguous", "chunked", "number"})
      check_members(file, name, sequence_records{0}, 10);
    CHECK(values_of(*open_hdf5_ragged(file, {"name/hits"})) == value_vector(10));
    CHECK(log.text().empty());
  }
  const log_capture log;
  const auto names = values_of(*open_hdf5_ragged(file, {"name/name"}));
  CHECK(names == values_by_library(file, "name", {"name"}));
  CHECK(names[9].size() == 4);
  CHECK(contains(log.text(),
                 "'name/name' were read into memory by the HDF5 library, one thread at "
                 "a time: it has a fill value of its own"));
}

TEST_CASE("hdf5 ragged: members that only the library can read are kept in memory",
          "[dataset][host]") {
  const temporary_directory folder;
  const sequence_records values{150};
  hdf5_writer writer{folder.path() / "x.h5"};
  const hdf5_layout compact{"compact",
                            [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }};
  write_records(writer, "compact", values, stored_record_type(4).get(), 150, compact);
  // Where a reference lies in a record the library does not tell; and a record of 2 MiB. In a
  // chunk of its own, for the library reads beyond its memory as it fills contiguous records of
  // over 1 MiB.
  constexpr hsize_t large = std::uint64_t{2} << 20;
  const detail::hdf5_type_id bytes{H5Tarray_create2(H5T_STD_U8LE, 1, &large)};
  const auto type = stored_record_type(0);
  const std::size_t own = H5Tget_size(type.get());
  H5Tset_size(type.get(), own + sizeof(hobj_ref_t) + large);
  H5Tinsert(type.get(), "link", own, H5T_STD_REF_OBJ);
  H5Tinsert(type.get(), "image", own + sizeof(hobj_ref_t), bytes.get());
  const sequence_records few{3};
  write_records(writer, "linked", few, type.get(), 3, chunked("", {1}));
  const auto file = writer.close();
  const log_capture log;
  check_members(file, "compact", values, 150);
  CHECK(contains(log.text(), "'compact/hits' were read into memory by the HDF5 library"));
  check_members(file, "linked", few, 3);
  CHECK(contains(log.text(), "members of another type too (references)"));
  CHECK(log.lines() == 6);
}

TEST_CASE("hdf5 ragged: damage in a member's heap is named with the member and the sample",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const sequence_records values{9};
  write_records(writer, "x", values, stored_record_type(0).get(), 9);
  const auto bytes = bytes_of_file(writer.close());
  const auto place_of = [&](std::string_view text) {
    const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end(),
                                   [](std::byte a, char b) { return a == std::byte(b); });
    REQUIRE(found != bytes.end());
    return static_cast<std::size_t>(found - bytes.begin());
  };
  const auto collection = place_of("GCOL");
  // Sample 4 has the id, the name's 16 bytes, then for the hits a length, 5, an address and an
  // object.
  constexpr std::size_t record_bytes = 4 + 16 + 16 + 8 + 16;
  const std::size_t hits =
      place_of(std::string_view{"\0\0\0\1\x08\0\0\0", 8}) + 3 * record_bytes + 20;
  REQUIRE(bytes[hits] == std::byte{5});
  const auto refusal = [&](std::size_t at, std::uint64_t number, unsigned width) {
    auto damaged = bytes;
    for (unsigned i = 0; i < width; ++i, number >>= 8)
      damaged[at + i] = static_cast<std::byte>(number);
    const auto path = folder.write("damaged.h5", damaged);
    const auto message = refusal_of(path, "x/hits");
    const std::string before = path.string() + ": field 'x/hits', sample ";
    REQUIRE(message.starts_with(before));
    return message.substr(before.size());
  };
  const std::string in_heap =
      " of the global heap collection at byte " + std::to_string(collection);
  CHECK(contains(refusal(hits + 4, std::uint64_t{1} << 40, 8),
                 "4: cannot be read: byte 1099511627776: an address in the global heap that is "
                 "beyond the file's end"));
  CHECK(contains(refusal(hits + 12, 999, 4), "4: cannot be read: its address is object 999" +
                                                 in_heap + ", which does not exist"));
  CHECK(contains(refusal(hits, ~std::uint32_t{0}, 4),
                 "4: cannot be read: it has 4294967295 elements of 2 bytes, but object "));
  CHECK(contains(refusal(collection + 8, std::uint64_t{1} << 40, 8),
                 "a global heap collection that claims 1099511627776 bytes, where the file has "));
}

TEST_CASE("hdf5 ragged: members that are no runs of numbers are refused with the reason",
          "[dataset][host]") {
  const temporary_directory folder;
  const detail::hdf5_type_id sequence{H5Tvlen_create(H5T_STD_U8LE)};
  const detail::hdf5_type_id nested{H5Tvlen_create(sequence.get())};
  const detail::hdf5_type_id inner{H5Tcreate(H5T_COMPOUND, sizeof(hvl_t))};
  H5Tinsert(inner.get(), "s", 0, sequence.get());
  constexpr hsize_t two = 2;
  const detail::hdf5_type_id points{H5Tarray_create2(inner.get(), 1, &two)};
  const detail::hdf5_type_id pairs{H5Tarray_create2(sequence.get(), 1, &two)};
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 128)};
  H5Tinsert(record.get(), "a", 0, H5T_STD_U32LE);
  H5Tinsert(record.get(), "s", 16, sequence.get());
  H5Tinsert(record.get(), "points", 32, points.get());
  H5Tinsert(record.get(), "pairs", 64, pairs.get());
  H5Tinsert(record.get(), "nested", 96, nested.get());
  hdf5_writer writer{folder.path() / "x.h5"};
  (void)writer.make("t", record.get(), {2});
  (void)writer.make("grid", record.get(), {2, 2});
  (void)writer.make("plain", H5T_STD_U8LE, {2});
  const auto file = writer.close();
  const auto named = [&](const std::string& path, const std::string& what) {
    return file.string() + ": field '" + path + "': " + what;
  };
  CHECK(refusal_of(file, "t/a") ==
        named("t/a", "its values are all of one length: open_hdf5 reads them"));
  CHECK(refusal_of(file, "t/points/s") ==
        named("t/points/s",
              "its records lie in an array, so that a sample would be several sequences"));
  CHECK(
      contains(refusal_of(file, "t/pairs"), "its values are of HDF5 type class 'variable-length'"));
  CHECK(contains(refusal_of(file, "t/nested"), "its values are sequences, whose elements"));
  CHECK(contains(refusal_of(file, "t/x"),
                 "its records have no member 'x'; they have a, s, points/s"));
  CHECK(contains(refusal_of(file, "t"), "a field is one member of theirs: name it as in 't/a'"));
  CHECK(contains(refusal_of(file, "grid/s"), "has 2 dimensions"));
  CHECK(contains(refusal_of(file, "plain/x"),
                 "the values of 'plain' are not records, so they have no"));
  CHECK(
      message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"t/s"}}); }) ==
      named("t/s",
            "its values are of variable length: open_hdf5_ragged reads them, and pad or pack make "
            "batches of them"));
}
