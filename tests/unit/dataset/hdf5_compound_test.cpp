#include <feedline/dataset/hdf5_dataset.hpp>
#include <feedline/error.hpp>

#include "support/catch.hpp"
#include "support/dataset_contract.hpp"
#include "support/hdf5_records.hpp"
#include "support/hdf5_writer.hpp"
#include "support/log_capture.hpp"
#include "support/temporary_directory.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t samples = 103;
const hdf5_options nothing_resident{.max_resident_bytes = 0};

void shuffle_and_gzip(hid_t creation) {
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
}

/// A way of storing records, and what a listing says of a member's access; SIZE stands for a record's.
struct storage {
  extent_vector extents;
  hdf5_layout layout;
  std::string access;
};

std::vector<storage> storages() {
  const auto fletcher = [](hid_t creation) { H5Pset_fletcher32(creation); };
  const auto nbit = [](hid_t creation) { H5Pset_nbit(creation); };
  const auto compact = [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); };
  const extent_vector rows{samples};
  const extent_vector table{samples, 3};
  return {
      {rows, {"contiguous"}, "contiguous, in records of SIZE bytes"},
      {rows, chunked("raw chunks", {16}), "chunks of 16 samples, in records of SIZE bytes"},
      {rows, chunked("deflate", {16}, shuffle_and_gzip),
       "chunks of 16 samples, shuffle, deflate, in records of SIZE bytes"},
      {rows, chunked("a sample a chunk", {1}, shuffle_and_gzip),
       "chunks of 1 samples, shuffle, deflate, in records of SIZE bytes"},
      {rows, chunked("fletcher32", {20}, fletcher),
       "chunks of 20 samples, fletcher32, in records of SIZE bytes"},
      {rows, chunked("by the library", {16}, nbit),
       "through the HDF5 library: filter 5 (nbit) is not one that feedline decodes"},
      {rows,
       {"compact", compact},
       "through the HDF5 library: its values lie within its header (compact layout)"},
      {table, {"rows of records"}, "contiguous, in records of SIZE bytes"},
      {table, chunked("chunks of whole rows", {16, 3}),
       "chunks of 16 samples, in records of SIZE bytes"},
      {table, chunked("chunks that split rows", {16, 2}),
       "chunks of 16 samples, in records of SIZE bytes"},
      {table, chunked("deflate that splits rows", {16, 2}, shuffle_and_gzip),
       "chunks of 16 samples, shuffle, deflate, in records of SIZE bytes"},
  };
}

/// Rows in an order that has jumps, runs and samples that come twice, put back in their places.
std::vector<std::byte> rows_of(const dataset& data, std::size_t field) {
  std::vector<sample_index> run;
  for (std::uint64_t i = data.size(); i-- > 0;) run.push_back({i});
  for (std::uint64_t i = 0; i < data.size(); ++i) run.push_back({i});
  const auto read = read_samples(data, run)[field];
  const std::size_t row = read.size() / run.size();
  std::vector<std::byte> rows(row * data.size());
  std::vector<std::byte> again(rows.size());
  for (std::size_t i = 0; i < run.size(); ++i)
    std::copy_n(
        read.begin() + static_cast<std::ptrdiff_t>(i * row), row,
        (i < data.size() ? rows : again).begin() + static_cast<std::ptrdiff_t>(run[i].value * row));
  CHECK(rows == again);
  return rows;
}

/// Every member of a dataset of records against the library, read as they lie and held in memory.
void check_members(const fs::path& file, const std::string& dataset,
                   const std::vector<hdf5_member_case>& members) {
  for (const auto& member : members) {
    INFO(dataset << ' ' << member.path());
    const auto wanted = rows_by_library(file, dataset, member);
    for (const auto& options :
         {nothing_resident, hdf5_options{.max_cache_bytes = 1, .max_resident_bytes = 0},
          hdf5_options{}}) {
      const auto opened = open_hdf5(file, {{dataset + '/' + member.path()}}, options);
      const auto found = opened->fields().front();
      CHECK(found.name == (member.names.back() == "rate/s" ? "s" : member.names.back()));
      CHECK(found.type == member.type);
      CHECK(rows_of(*opened, 0) == wanted);
    }
  }
}

}  // namespace

TEST_CASE("hdf5: a member of records reads as the library reads it, however records are stored",
          "[dataset][host]") {
  const record_style style = GENERATE(record_style::packed, record_style::padded);
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "records.h5"};
  const auto record = record_type(style);
  const auto values = various_bytes(samples * 3 * H5Tget_size(record.get()));
  for (const auto& way : storages())
    writer.write(way.layout.name, record.get(), way.extents, record.get(), values.data(),
                 way.layout);
  const auto file = writer.close();
  const auto listings = list_fields(file);
  for (const auto& way : storages()) {
    check_members(file, way.layout.name, record_members());
    std::string access = way.access;
    if (const auto at = access.find("SIZE"); at != std::string::npos)
      access.replace(at, 4, std::to_string(H5Tget_size(record.get())));
    std::vector<std::string> listed;
    for (const auto& listing : listings)
      if (listing.dataset.starts_with('/' + way.layout.name + '/')) {
        listed.push_back(listing.dataset.substr(way.layout.name.size() + 2));
        INFO(listing.dataset);
        CHECK(listing.access == access);
        CHECK(listing.samples == samples);
        auto shape = way.extents;
        shape.erase(shape.begin());
        const auto& own = record_members()[listed.size() - 1].shape;
        shape.insert(shape.end(), own.begin(), own.end());
        CHECK(listing.spec.shape == std::vector<std::uint64_t>(shape.begin(), shape.end()));
      }
    std::vector<std::string> wanted;
    for (const auto& member : record_members()) wanted.push_back(member.path());
    CHECK(listed == wanted);
  }
}

TEST_CASE("hdf5: of records that were never written a member is that of the fill value",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "unwritten.h5"};
  const auto record = record_type(record_style::padded);
  const auto fill = various_bytes(H5Tget_size(record.get()));
  const auto values = various_bytes(20 * fill.size());
  const auto with_fill = [&](hdf5_layout layout) {
    return hdf5_layout{layout.name, [layout, &record, &fill](hid_t creation) {
                         layout.apply(creation);
                         require_hdf5(H5Pset_fill_value(creation, record.get(), fill.data()) >= 0,
                                      "set a fill value");
                       }};
  };
  const std::vector<hdf5_layout> layouts{
      {"contiguous"},
      chunked("raw", {16}),
      chunked("deflate", {16}, shuffle_and_gzip),
      chunked("library", {16}, [](hid_t creation) { H5Pset_nbit(creation); }),
  };
  for (const auto& layout : layouts) {
    (void)writer.make(layout.name, record.get(), {samples}, with_fill(layout));
    if (layout.name == "contiguous") continue;
    const auto some =
        writer.make("some " + layout.name, record.get(), {samples}, with_fill(layout));
    writer.write_rows(some.get(), 40, 20, record.get(), values.data());
    (void)writer.make("zeros " + layout.name, record.get(), {samples}, layout);
  }
  (void)writer.make("table", record.get(), {samples, 3}, with_fill({"contiguous"}));
  {
    const auto split = writer.make("split", record.get(), {samples, 3},
                                   with_fill(chunked("", {16, 2}, shuffle_and_gzip)));
    writer.write_rows(split.get(), 16, 5, record.get(), values.data());
  }
  const auto file = writer.close();
  CHECK(list_fields(file).front().access == "never written");
  for (const auto& layout : layouts) {
    check_members(file, layout.name, record_members());
    if (layout.name == "contiguous") continue;
    check_members(file, "some " + layout.name, record_members());
    check_members(file, "zeros " + layout.name, record_members());
  }
  check_members(file, "table", record_members());
  check_members(file, "split", record_members());
}

TEST_CASE("hdf5: records behind a user block and behind links are found", "[dataset][host]") {
  const temporary_directory folder;
  const auto record = record_type(record_style::packed);
  const auto values = various_bytes(samples * H5Tget_size(record.get()));
  hdf5_writer far{folder.path() / "far.h5", {.userblock = 1024, .latest_format = true}};
  far.make_group("g");
  far.write("g/plain", record.get(), {samples}, record.get(), values.data());
  far.write("g/raw", record.get(), {samples}, record.get(), values.data(), chunked("", {16}));
  far.write("g/deflate", record.get(), {samples}, record.get(), values.data(),
            chunked("", {16}, shuffle_and_gzip));
  const auto there = far.close();
  hdf5_writer near{folder.path() / "near.h5"};
  for (const std::string name : {"plain", "raw", "deflate"}) {
    near.make_external_link("far.h5", "/g/" + name, name);
    near.make_soft_link("/" + name, "soft " + name);
  }
  const auto file = near.close();
  for (const std::string name : {"plain", "raw", "deflate"}) {
    check_members(there, "g/" + name, record_members());
    check_members(file, name, record_members());
    check_members(file, "soft " + name, record_members());
  }
}

TEST_CASE("hdf5: members of one dataset are fields of one sample, beside a plain dataset",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "fields.h5"};
  const auto record = record_type(record_style::padded);
  const auto values = various_bytes(samples * H5Tget_size(record.get()));
  const auto layout = GENERATE(hdf5_layout{"contiguous"}, chunked("raw", {16}),
                               chunked("deflate", {16}, shuffle_and_gzip));
  writer.write("events", record.get(), {samples}, record.get(), values.data(), layout);
  writer.write("label", H5T_STD_U8LE, {samples}, H5T_NATIVE_UINT8, values.data());
  const auto file = writer.close();
  std::vector<hdf5_field> fields{{"label"}};
  for (const auto& member : record_members())
    for (const std::string name : {"", "again "})  // twice
      fields.push_back({"/events/" + member.path(), name.empty() ? "" : name + member.path()});
  for (const auto& options : {nothing_resident, hdf5_options{}}) {
    const auto opened = open_hdf5(file, fields, options);
    REQUIRE(opened->fields().size() == 1 + 2 * record_members().size());
    CHECK(rows_of(*opened, 0) == std::vector<std::byte>(values.begin(), values.begin() + samples));
    for (std::size_t i = 0; i < record_members().size(); ++i) {
      const auto wanted = rows_by_library(file, "events", record_members()[i]);
      CHECK(rows_of(*opened, 1 + 2 * i) == wanted);
      CHECK(rows_of(*opened, 2 + 2 * i) == wanted);
    }
  }
}

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
  const auto listings = list_fields(file);
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
  const auto file = writer.close();
  std::vector<hdf5_member_case> members;
  members.push_back({{"bits"}, element_type::u16, {}, H5T_NATIVE_UINT16});
  members.push_back({{"number"}, element_type::u32, {}, H5T_NATIVE_UINT32});
  check_members(file, "x", members);
  std::vector<std::string> ways;
  for (const auto& listing : list_fields(file))
    ways.push_back(listing.dataset + ' ' + listing.access);
  const std::string references =
      "its records have members of another type too (references), whose size in the file the "
      "library "
      "does not tell";
  CHECK(ways ==
        std::vector<std::string>{
            "/x/bits through the HDF5 library: its numbers have 12 bits, which are kept in 16",
            "/x/number through the HDF5 library: " + references});
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
      CHECK(rows_of(*opened, 0) == rows_by_library(file, dataset, *one));
    }
  }
  CHECK(list_fields(file).front().access ==
        "through the HDF5 library: its values lie apart: they are members of records in an array");
}

TEST_CASE("hdf5: sixteen readers of several members of one dataset get what one gets",
          "[dataset][host]") {
  struct event {
    std::uint64_t number;
    std::uint16_t pad[3];
    std::uint16_t low;
    std::uint32_t inner[2];
  };
  constexpr std::uint64_t events = 2000;
  std::vector<event> values(events);
  for (std::uint32_t i = 0; i < events; ++i)
    values[i] = {i, {9, 9, 9}, static_cast<std::uint16_t>(i), {i, i}};
  const hsize_t two = 2;
  const auto type_of = [&](hid_t word, hid_t half) {
    const detail::hdf5_type_id pair{H5Tarray_create2(word, 1, &two)};
    detail::hdf5_type_id type{H5Tcreate(H5T_COMPOUND, sizeof(event))};
    H5Tinsert(type.get(), "low", HOFFSET(event, low), half);
    H5Tinsert(type.get(), "inner", HOFFSET(event, inner), pair.get());
    return type;
  };
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "many.h5"};
  const auto memory = type_of(H5T_NATIVE_UINT32, H5T_NATIVE_UINT16);
  const auto stored = type_of(H5T_STD_U32BE, H5T_STD_U16LE);
  const std::vector<hdf5_layout> layouts{
      {"contiguous"},
      chunked("raw", {16}),
      chunked("deflate", {16}, shuffle_and_gzip),
      chunked("single", {1}, shuffle_and_gzip),
      chunked("library", {16}, [](hid_t creation) { H5Pset_nbit(creation); })};
  for (const auto& layout : layouts)
    writer.write(layout.name, stored.get(), {events}, memory.get(), values.data(), layout);
  const auto file = writer.close();
  const std::size_t cache_bytes = GENERATE(std::size_t{1}, std::size_t{1} << 30);
  for (const auto& layout : layouts) {
    INFO(layout.name << ", " << cache_bytes << " bytes kept");
    const auto opened = open_hdf5(file, {{layout.name + "/low"}, {layout.name + "/inner"}},
                                  {.max_cache_bytes = cache_bytes, .max_resident_bytes = 0});
    std::atomic<std::uint64_t> wrong{0};
    std::atomic<bool> start{false};
    std::vector<std::thread> readers;
    for (unsigned seed = 0; seed < 16; ++seed)
      readers.emplace_back([&, seed] {
        std::mt19937_64 random{seed};
        std::vector<sample_index> run(64);
        std::vector<std::uint16_t> low(run.size());
        std::vector<std::uint32_t> inner(2 * run.size());
        start.wait(false);
        for (int turn = 0; turn < 10; ++turn) {
          for (auto& sample : run) sample.value = random() % events;
          opened->read(run, std::vector{std::as_writable_bytes(std::span{low}),
                                        std::as_writable_bytes(std::span{inner})});
          for (std::size_t i = 0; i < run.size(); ++i)
            wrong += low[i] != run[i].value || inner[2 * i] != run[i].value ||
                     inner[2 * i + 1] != run[i].value;
        }
      });
    start = true;
    start.notify_all();
    for (auto& reader : readers) reader.join();
    CHECK(wrong.load() == 0);
  }
}
