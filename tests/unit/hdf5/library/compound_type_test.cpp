#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 103;
const hdf5_options nothing_resident{.max_resident_bytes = 0};

void shuffle_and_gzip(hid_t creation) {
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
}

}  // namespace

TEST_CASE("hdf5: members beside values of variable length are found where they are in the file",
          "[dataset][host]") {
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), H5T_VARIABLE);
  const detail::hdf5_type_id list{H5Tvlen_create(H5T_NATIVE_INT)};
  const hsize_t three = 3;
  const detail::hdf5_type_id texts{H5Tarray_create2(text.get(), 1, &three)};
  struct inner {
    char* text;
    float number;
  };
  struct named {
    std::int32_t before;
    char* text;
    std::uint32_t after;
    hvl_t list;
    char* texts[3];
    inner in;
    std::uint16_t last;
  };
  std::string word = "word";
  std::vector<std::int32_t> numbers{1, 2, 3};
  std::vector<named> values;
  for (unsigned i = 0; i < samples; ++i)
    values.push_back({.before = static_cast<std::int32_t>(i),
                      .text = word.data(),
                      .after = 7 * i,
                      .list = {3, numbers.data()},
                      .texts = {word.data(), word.data(), word.data()},
                      .in = {word.data(), static_cast<float>(i) / 3},
                      .last = static_cast<std::uint16_t>(i)});
  const detail::hdf5_type_id in{H5Tcreate(H5T_COMPOUND, sizeof(inner))};
  H5Tinsert(in.get(), "text", HOFFSET(inner, text), text.get());
  H5Tinsert(in.get(), "number", HOFFSET(inner, number), H5T_NATIVE_FLOAT);
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, sizeof(named))};
  H5Tinsert(record.get(), "last", HOFFSET(named, last), H5T_NATIVE_UINT16);
  H5Tinsert(record.get(), "before", HOFFSET(named, before), H5T_NATIVE_INT32);
  H5Tinsert(record.get(), "text", HOFFSET(named, text), text.get());
  H5Tinsert(record.get(), "after", HOFFSET(named, after), H5T_NATIVE_UINT32);
  H5Tinsert(record.get(), "list", HOFFSET(named, list), list.get());
  H5Tinsert(record.get(), "texts", HOFFSET(named, texts), texts.get());
  H5Tinsert(record.get(), "in", HOFFSET(named, in), in.get());
  const temporary_directory folder;
  const std::size_t address_bytes = GENERATE(4U, 8U);
  const bool latest_format = GENERATE(false, true);
  hdf5_writer writer{folder.path() / "texts.h5",
                     {.latest_format = latest_format, .offset_bytes = address_bytes}};
  const std::vector<hdf5_layout> layouts{
      {"contiguous"}, chunked("chunks", {16}), chunked("deflate", {16}, shuffle_and_gzip)};
  for (const auto& layout : layouts)
    writer.write(layout.name, record.get(), {samples}, record.get(), values.data(), layout);
  const auto file = writer.close();

  std::vector<hdf5_member_case> members;
  members.push_back({{"last"}, element_type::u16, {}, H5T_NATIVE_UINT16});
  members.push_back({{"before"}, element_type::i32, {}, H5T_NATIVE_INT32});
  members.push_back({{"after"}, element_type::u32, {}, H5T_NATIVE_UINT32});
  members.push_back({{"in", "number"}, element_type::f32, {}, H5T_NATIVE_FLOAT});
  for (const auto& layout : layouts) check_members(file, layout.name, members);
  // In a file a text takes eight bytes and an address, as a list does; in memory 8 and 16.
  const std::size_t record_bytes = sizeof(named) + 5 * address_bytes + address_bytes - 8;
  auto listings = list_hdf5_fields(file);
  CHECK(std::erase_if(listings, [](const auto& listing) { return listing.is_ragged; }) == 9);
  REQUIRE(listings.size() == 12);
  for (const auto& listing : listings) {
    INFO(listing.dataset << ": " << listing.access);
    CHECK(listing.access.ends_with(", in records of " + std::to_string(record_bytes) + " bytes"));
    CHECK(listing.access.find("library") == std::string::npos);
  }
}

TEST_CASE("hdf5: members that cannot be read where they lie are read through the library",
          "[dataset][host]") {
  struct entry {
    std::uint16_t bits;
    hobj_ref_t link;
    std::uint32_t number;
  };
  const detail::hdf5_type_id twelve{H5Tcopy(H5T_STD_U16BE)};
  H5Tset_precision(twelve.get(), 12);
  const auto type_of = [](hid_t bits) {
    detail::hdf5_type_id type{H5Tcreate(H5T_COMPOUND, sizeof(entry))};
    H5Tinsert(type.get(), "bits", HOFFSET(entry, bits), bits);
    H5Tinsert(type.get(), "link", HOFFSET(entry, link), H5T_STD_REF_OBJ);
    H5Tinsert(type.get(), "number", HOFFSET(entry, number), H5T_NATIVE_UINT32);
    return type;
  };
  const auto stored = type_of(twelve.get());
  const auto memory = type_of(H5T_NATIVE_UINT16);
  std::vector<entry> values;
  for (unsigned i = 0; i < samples; ++i)
    values.push_back({static_cast<std::uint16_t>(i), 0, 7 * i});
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "library.h5"};
  writer.write("x", stored.get(), {samples}, memory.get(), values.data());
  // One record is more than the library would convert at once.
  const hsize_t many = 100'000;
  const detail::hdf5_type_id long_row{H5Tarray_create2(twelve.get(), 1, &many)};
  const detail::hdf5_type_id long_row_here{H5Tarray_create2(H5T_NATIVE_UINT16, 1, &many)};
  const detail::hdf5_type_id wide{H5Tcreate(H5T_COMPOUND, 8 + 2 * many)};
  H5Tinsert(wide.get(), "row", 5, long_row.get());
  const auto bytes = various_bytes(3 * H5Tget_size(wide.get()));
  writer.write("y", wide.get(), {3}, wide.get(), bytes.data());
  const auto file = writer.close();
  std::vector<hdf5_member_case> wide_members;
  wide_members.push_back({{"row"}, element_type::u16, {many}, long_row_here.get()});
  check_members(file, "y", wide_members);
  std::vector<hdf5_member_case> members;
  members.push_back({{"bits"}, element_type::u16, {}, H5T_NATIVE_UINT16});
  members.push_back({{"number"}, element_type::u32, {}, H5T_NATIVE_UINT32});
  check_members(file, "x", members);
  std::vector<std::string> ways;
  for (const auto& listing : list_hdf5_fields(file))
    ways.push_back(listing.dataset + ' ' + listing.access);
  const std::string references =
      "its records have members of another type too (references), whose size in the file the "
      "library "
      "does not tell";
  CHECK(ways ==
        std::vector<std::string>{
            "/x/bits through the HDF5 library: its numbers have 12 bits, which are kept in 16",
            "/x/link through the HDF5 library: its values are references",
            "/x/number through the HDF5 library: " + references,
            "/y/row through the HDF5 library: its numbers have 12 bits, which are kept in 16"});
  const log_capture log;
  (void)open_hdf5(file, {{"x/number"}}, nothing_resident);
  CHECK(log.text() ==
        file.string() +
            ": field 'x/number' is read through the HDF5 library, one thread at a time: " +
            references + '\n');
}

TEST_CASE("hdf5: members of records that lie in an array have its dimensions first",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "array.h5"};
  const hsize_t four = 4;
  const auto record = record_type(record_style::padded);
  const detail::hdf5_type_id array{H5Tarray_create2(record.get(), 1, &four)};
  detail::hdf5_type_id outer{H5Tcreate(H5T_COMPOUND, 3 + H5Tget_size(array.get()))};
  H5Tinsert(outer.get(), "hits", 3, array.get());
  const auto values = various_bytes(samples * H5Tget_size(outer.get()));
  writer.write("x", outer.get(), {samples}, outer.get(), values.data());
  writer.write("y", array.get(), {samples}, array.get(), values.data(),
               chunked("", {16}, shuffle_and_gzip));
  const auto file = writer.close();
  for (const auto& member : record_members()) {
    const detail::hdf5_type_id inner = member.in_records();
    const detail::hdf5_type_id wrapped{H5Tarray_create2(inner.get(), 1, &four)};
    auto shape = member.shape;
    shape.insert(shape.begin(), 4);
    const hdf5_member_case in_x{{"hits"}, member.type, shape, wrapped.get()};
    const hdf5_member_case in_y{{}, member.type, shape, wrapped.get()};
    for (const auto& [dataset, one] : {std::pair{"x", &in_x}, std::pair{"y", &in_y}}) {
      const auto path = std::string{dataset} + (*dataset == 'x' ? "/hits/" : "/") + member.path();
      INFO(path);
      const auto opened = open_hdf5(file, {{path}}, nothing_resident);
      CHECK(opened->fields() ==
            std::vector<field>{{opened->fields().front().name, member.type, shape}});
      CHECK(samples_of(*opened, 0) == rows_by_library(file, dataset, *one));
    }
  }
  CHECK(list_hdf5_fields(file).front().access ==
        "through the HDF5 library: its values lie apart: they are members of records in an array");
}

TEST_CASE("hdf5: records of two equal numbers are complex, and each number is also a member",
          "[dataset][host]") {
  const detail::hdf5_type_id point{H5Tcreate(H5T_COMPOUND, 8)};
  H5Tinsert(point.get(), "x", 0, H5T_IEEE_F32BE);
  H5Tinsert(point.get(), "y", 4, H5T_IEEE_F32BE);
  const auto values = various_bytes(samples * 8);
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "points.h5"};
  writer.write("points", point.get(), {samples}, point.get(), values.data());
  const auto file = writer.close();
  const auto listings = list_hdf5_fields(file);
  REQUIRE(listings.size() == 1);
  CHECK(listings[0].spec == field{"points", element_type::f32, {2}});
  std::vector<hdf5_member_case> members;
  members.push_back({{"x"}, element_type::f32, {}, H5T_NATIVE_FLOAT});
  members.push_back({{"y"}, element_type::f32, {}, H5T_NATIVE_FLOAT});
  check_members(file, "points", members);
}
