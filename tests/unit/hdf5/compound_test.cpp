#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/writer.hpp"

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

/// A way of storing records, and what a listing says of a member's access; SIZE stands for a
/// record's.
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
  const auto listings = list_hdf5_fields(file);
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

TEST_CASE("hdf5: a member of records that were never written has the fill value",
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
  CHECK(list_hdf5_fields(file).front().access == "never written");
  for (const auto& layout : layouts) {
    check_members(file, layout.name, record_members());
    if (layout.name == "contiguous") continue;
    check_members(file, "some " + layout.name, record_members());
    check_members(file, "zeros " + layout.name, record_members());
  }
  check_members(file, "table", record_members());
  check_members(file, "split", record_members());
}

TEST_CASE("hdf5: records after a user block and through links are found", "[dataset][host]") {
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
    CHECK(samples_of(*opened, 0) ==
          std::vector<std::byte>(values.begin(), values.begin() + samples));
    for (std::size_t i = 0; i < record_members().size(); ++i) {
      const auto wanted = rows_by_library(file, "events", record_members()[i]);
      CHECK(samples_of(*opened, 1 + 2 * i) == wanted);
      CHECK(samples_of(*opened, 2 + 2 * i) == wanted);
    }
  }
}

TEST_CASE("hdf5: sixteen readers of several members of one dataset get the same as one",
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
                                  {.max_host_cache_bytes = cache_bytes, .max_resident_bytes = 0});
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
