#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/ragged.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

using lengths = std::vector<std::uint64_t>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void gzip(hid_t creation) {
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 6);
}

/// Where the rows that name values lie; some are never written.
std::vector<hdf5_layout> layouts() {
  return {{"contiguous"},
          chunked("chunks", {7}),
          chunked("deflate", {7}, gzip),
          chunked("a row a chunk, deflate", {1}, gzip),
          chunked("one chunk, deflate", {45}, gzip)};
}

/// How elements are stored, and as what they are read.
struct element_case {
  std::string name;
  detail::hdf5_type_id file;
  detail::hdf5_type_id memory;
  field element;
};

std::vector<element_case> element_cases() {
  constexpr hsize_t four = 4;
  std::vector<element_case> cases;
  const auto add = [&](const std::string& name, hid_t file, hid_t memory, field element) {
    cases.push_back({name, detail::hdf5_type_id{H5Tcopy(file)},
                     detail::hdf5_type_id{H5Tcopy(memory)}, std::move(element)});
  };
  add("bytes", H5T_STD_U8LE, H5T_NATIVE_UINT8, {"bytes", element_type::u8, {}});
  add("big", H5T_STD_I32BE, H5T_NATIVE_INT32, {"big", element_type::i32, {}});
  add("float", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {"float", element_type::f32, {}});
  add("long", H5T_STD_U64BE, H5T_NATIVE_UINT64, {"long", element_type::u64, {}});
  const detail::hdf5_type_id stored_box{H5Tarray_create2(H5T_IEEE_F32BE, 1, &four)};
  const detail::hdf5_type_id box{H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &four)};
  add("box", stored_box.get(), box.get(), {"box", element_type::f32, {4}});
  const detail::hdf5_type_id opaque{H5Tcreate(H5T_OPAQUE, 3)};
  add("opaque", opaque.get(), opaque.get(), {"opaque", element_type::u8, {3}});
  return cases;
}

lengths some_lengths() {
  lengths of;
  for (std::uint64_t i = 0; i < 40; ++i) of.push_back(i % 5 == 3 ? 0 : i * 7 % 23);
  return of;
}

std::string refusal_of(const fs::path& file, const std::string& name,
                       const hdf5_options& options = {}) {
  return message_of<hdf5_error>([&] { (void)open_hdf5_ragged(file, {name}, options); });
}

/// A file of `count` short values, "x", and what they are.
std::pair<fs::path, value_vector> write_short(const temporary_directory& folder,
                                              std::size_t count) {
  std::mt19937_64 random{count};
  lengths of(count);
  for (auto& length : of) length = random() % 20;
  auto values = various_values(of, 4);
  hdf5_writer writer{folder.path() / "short.h5"};
  write_sequences(writer, "x", H5T_STD_I32LE, H5T_NATIVE_INT32, values);
  return {writer.close(), std::move(values)};
}

}  // namespace

TEST_CASE("hdf5 ragged: sequences of all elements read as the library reads them, in any layout",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "all.h5"};
  constexpr hsize_t rows = 45;  // five are never written
  for (const auto& layout : layouts()) {
    writer.make_group(layout.name);
    for (const auto& each : element_cases())
      write_sequences(writer, layout.name + "/" + each.name, each.file.get(), each.memory.get(),
                      various_values(some_lengths(), H5Tget_size(each.memory.get())), layout, rows);
  }
  const auto file = writer.close();
  const log_capture log;
  for (const auto& layout : layouts())
    for (const auto& each : element_cases()) {
      const std::string name = layout.name + "/" + each.name;
      INFO(name);
      const auto dataset = open_hdf5_ragged(file, {name});
      REQUIRE(dataset->size() == rows);
      CHECK(dataset->element() == each.element);
      CHECK(dataset->concurrency() == read_concurrency::parallel);
      CHECK(dataset->length({1}) == 7);
      CHECK(dataset->length({3}) == 0);
      CHECK(dataset->length({44}) == 0);
      const auto values = values_of(*dataset);
      auto written = various_values(some_lengths(), H5Tget_size(each.memory.get()));
      written.resize(rows);
      CHECK(values == written);
      CHECK(values == values_by_library(file, name));
    }
  CHECK(log.text().empty());
  CHECK(open_hdf5_ragged(file, {"chunks/box", "target"})->element().name == "target");
}

TEST_CASE("hdf5 ragged: strings are the bytes that the file has of them", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "text.h5"};
  const std::vector<const char*> texts{
      "a", "", "pile of words", nullptr, "na\xC3\xAFve", "holepatch", "and so on"};
  write_strings(writer, "ascii", H5T_CSET_ASCII, texts);
  write_strings(writer, "utf8", H5T_CSET_UTF8, texts, chunked("", {3}, gzip));
  const auto file = writer.close();
  for (const std::string name : {"ascii", "utf8"}) {
    INFO(name);
    const auto dataset = open_hdf5_ragged(file, {name});
    CHECK(dataset->element() == field{name, element_type::u8, {}});
    const auto values = values_of(*dataset);
    REQUIRE(values.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i] == nullptr ? "" : texts[i];
      const auto bytes = std::as_bytes(std::span{text});
      CHECK(values[i] == std::vector<std::byte>{bytes.begin(), bytes.end()});
    }
    CHECK(values == values_by_library(file, name));
  }

  // Zeros within and at the end, which no call of the library writes, are bytes like others.
  auto bytes = bytes_of_file(file);
  const std::string word = "holepatch";
  const auto found = std::search(bytes.begin(), bytes.end(), word.begin(), word.end(),
                                 [](std::byte a, char b) { return a == std::byte(b); });
  REQUIRE(found != bytes.end());
  found[4] = std::byte{0};
  found[8] = std::byte{0};
  const auto patched = folder.write("patched.h5", bytes);
  const auto value = values_of(*open_hdf5_ragged(patched, {"ascii"}))[5];
  const auto holed = std::as_bytes(std::span{"hole\0atc\0", 9});
  CHECK(value == std::vector<std::byte>{holed.begin(), holed.end()});
}

TEST_CASE("hdf5 ragged: user blocks, and addresses and lengths of any size, lead to the values",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto options = GENERATE(hdf5_writer::file_options{.userblock = 512},
                                hdf5_writer::file_options{.userblock = 2048, .latest_format = true},
                                hdf5_writer::file_options{.offset_bytes = 4, .length_bytes = 4},
                                hdf5_writer::file_options{.offset_bytes = 4, .length_bytes = 8},
                                hdf5_writer::file_options{.offset_bytes = 8, .length_bytes = 2},
                                hdf5_writer::file_options{.in_pages = true});
  CAPTURE(options.userblock, options.offset_bytes, options.length_bytes, options.in_pages);
  hdf5_writer writer{folder.path() / "x.h5", options};
  const auto values = various_values(some_lengths(), 2);
  write_sequences(writer, "x", H5T_STD_U16BE, H5T_NATIVE_UINT16, values, chunked("", {16}, gzip));
  const auto file = writer.close();
  const log_capture log;
  CHECK(values_of(*open_hdf5_ragged(file, {"x"})) == values);
  CHECK(log.text().empty());
}

TEST_CASE("hdf5 ragged: thousands of small values, and such as are larger than any collection",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto [file, values] = write_short(folder, 20'000);
  CHECK(values_of(*open_hdf5_ragged(file, {"x"})) == values);

  hdf5_writer writer{folder.path() / "large.h5"};
  const auto large = various_values({70'000, 1, 1'000'000, 65'536, 0, 4'096, 65'535, 131'072}, 1);
  write_sequences(writer, "x", H5T_STD_U8LE, H5T_NATIVE_UINT8, large);
  CHECK(values_of(*open_hdf5_ragged(writer.close(), {"x"})) == large);
}

TEST_CASE("hdf5 ragged: values that were overwritten, in any order, read as last written",
          "[dataset][host]") {
  const temporary_directory folder;
  std::mt19937_64 random{5};
  constexpr std::size_t rows = 250;
  value_vector values(rows);
  hdf5_writer writer{folder.path() / "x.h5"};
  {
    const detail::hdf5_type_id type{H5Tvlen_create(H5T_STD_U8LE)};
    const auto dataset = writer.make("x", type.get(), {rows}, chunked("", {64}));
    for (int turn = 0; turn < 1'000; ++turn) {
      const std::size_t row = random() % rows;
      values[row] = various_values({random() % 200}, 1).front();
      write_sequence_rows(writer, dataset.get(), row, H5T_NATIVE_UINT8, {values[row]});
    }
  }
  const auto file = writer.close();
  CHECK(values_of(*open_hdf5_ragged(file, {"x"})) == values);
  CHECK(values == values_by_library(file, "x"));
}

TEST_CASE("hdf5 ragged: values never written are empty, or the dataset's fill value",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  write_sequences(writer, "contiguous", H5T_STD_U8LE, H5T_NATIVE_UINT8, {}, {}, 10);
  write_sequences(writer, "chunked", H5T_STD_U8LE, H5T_NATIVE_UINT8, {}, chunked("", {4}), 10);
  const auto text = string_type(H5T_CSET_ASCII);
  const auto filled_with = [&](const char* fill) {
    return chunked("", {4}, [&text, fill](hid_t creation) {
      require_hdf5(H5Pset_fill_value(creation, text.get(), &fill) >= 0, "set a fill value");
    });
  };
  (void)writer.make("nothing", text.get(), {10}, filled_with(""));
  (void)writer.make("something", text.get(), {10}, filled_with("none"));
  const auto file = writer.close();
  {
    const log_capture log;
    for (const std::string name : {"contiguous", "chunked", "nothing"}) {
      INFO(name);
      CHECK(values_of(*open_hdf5_ragged(file, {name})) == value_vector(10));
    }
    CHECK(log.text().empty());
  }
  const log_capture log;
  CHECK(values_of(*open_hdf5_ragged(file, {"something"})) == values_by_library(file, "something"));
  CHECK(contains(log.text(),
                 "'something' were read into memory by the HDF5 library, one thread at a "
                 "time: it has a fill value of its own"));
}

TEST_CASE("hdf5 ragged: sixteen readers at once get the same as one", "[dataset][host]") {
  const temporary_directory folder;
  const auto [file, values] = write_short(folder, 3'000);
  const auto dataset = open_hdf5_ragged(file, {"x"});
  constexpr unsigned threads = 16;
  std::latch start{threads};
  std::atomic<std::uint64_t> wrong{0};
  const auto reader = [&, &written = values](unsigned seed) {
    std::mt19937_64 random{seed};
    start.arrive_and_wait();
    for (int turn = 0; turn < 50; ++turn) {
      std::vector<std::size_t> samples(32);
      value_vector got(samples.size());
      std::vector<element_run> runs;
      std::vector<sample_index> hinted;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = random() % written.size();
        hinted.push_back({samples[i]});
        got[i].resize(dataset->length({samples[i]}) * 4);
        runs.push_back({{samples[i]}, 0, got[i]});
      }
      dataset->prefetch(hinted);
      dataset->read(runs);
      for (std::size_t i = 0; i < samples.size(); ++i) wrong += got[i] != written[samples[i]];
    }
  };
  std::vector<std::thread> readers;
  for (unsigned seed = 0; seed < threads; ++seed) readers.emplace_back(reader, seed);
  for (auto& each : readers) each.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("hdf5 ragged: elements that a sample lacks are refused, not read", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  write_sequences(writer, "x", H5T_STD_I32LE, H5T_NATIVE_INT32, various_values({3, 5}, 4));
  const auto dataset = open_hdf5_ragged(writer.close(), {"x"});
  std::array<std::byte, 32> out{};
  const auto refusal = [&](std::uint64_t sample, std::uint64_t first, std::size_t bytes) {
    const element_run run{{sample}, first, std::span{out}.first(bytes)};
    return message_of<dataset_error>([&] { dataset->read({&run, 1}); });
  };
  CHECK(contains(refusal(2, 0, 4), "there is no such sample: the dataset has 2"));
  CHECK(contains(refusal(0, 1, 12),
                 "12 bytes from element 1 on are asked for, but it has 3 elements of 4 bytes"));
  CHECK(contains(refusal(0, 4, 0), "0 bytes from element 4 on"));
  CHECK(contains(refusal(1, ~std::uint64_t{0}, 8), "8 bytes from element 18446744073709551615"));
  CHECK(contains(refusal(1, 0, 6), "6 bytes from element 0"));
}

TEST_CASE("hdf5 ragged: samples pass through pad and pack to a loader's batches",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto of = skewed_lengths(500, 40);
  hdf5_writer writer{folder.path() / "x.h5"};
  value_vector values;
  for (std::size_t i = 0; i < of.size(); ++i)
    values.push_back(as_byte_vector(telling_elements(i, 0, of[i])));
  constexpr hsize_t two = 2;
  const detail::hdf5_type_id stored{H5Tarray_create2(H5T_STD_I32BE, 1, &two)};
  const detail::hdf5_type_id pair{H5Tarray_create2(H5T_NATIVE_INT32, 1, &two)};
  write_sequences(writer, "pair", stored.get(), pair.get(), values, chunked("", {100}, gzip));
  const auto ragged = open_hdf5_ragged(writer.close(), {"pair"});
  const auto expected = make_telling(of);  // the same samples, from memory

  const auto batches_of = [](const dataset_ptr& dataset, const sampler& order) {
    loader loader{dataset, order, make_host_device(), {.batch_size = 16}};
    std::vector<std::vector<std::byte>> bytes;
    for (const batch& batch : loader.epoch(1))
      for (const field& field : dataset->fields()) {
        const auto of_field = batch[field.name].bytes();
        bytes.emplace_back(of_field.begin(), of_field.end());
      }
    return bytes;
  };
  const auto order = bucket_by_length{*ragged, {.seed = 9}};
  const auto batches = batches_of(pad(ragged), order);
  CHECK(batches.size() > 60);
  CHECK(batches == batches_of(pad(expected), order));
  CHECK(batches_of(pack(ragged, {.capacity = 64}), shuffle{.seed = 3}) ==
        batches_of(pack(expected, {.capacity = 64}), shuffle{.seed = 3}));
}

// Files of the jHDF project, made by many versions of h5py and HDF5.
TEST_CASE(
    "hdf5 ragged: all sequences and strings of other programs' files read as with the library",
    "[dataset][host]") {
  const auto folder = find_test_data("hdf5/jhdf");
  if (!folder)
    FEEDLINE_SKIP("no jHDF files: name the folder above hdf5/jhdf in FEEDLINE_TEST_DATA");
  std::vector<std::pair<std::string, std::string>> datasets{
      {"var-length-strings-reused.hdf5", "a0"}};
  for (const std::string version : {"earliest", "latest"}) {
    for (const std::string type : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                   "uint64", "float32", "float64"})
      for (const std::string layout : {"_data", "_data_chunked"})
        datasets.emplace_back("test_vlen_datasets_" + version + ".hdf5", "vlen_" + type + layout);
    for (const std::string name : {"vlen_issue_247", "vlen_issue_247_chunked"})
      datasets.emplace_back("test_vlen_datasets_" + version + ".hdf5", name);
    for (const std::string name : {"variable_length_ascii", "variable_length_utf8"}) {
      datasets.emplace_back("test_string_datasets_" + version + ".hdf5", name);
      datasets.emplace_back("test_compact_datasets_" + version + ".hdf5", "string/" + name);
    }
  }
  const log_capture log;
  for (const auto& [name, dataset] : datasets) {
    INFO(name << ' ' << dataset);
    const auto file = *folder / name;
    const auto values = values_of(*open_hdf5_ragged(file, {dataset}));
#if H5_VERSION_GE(1, 14, 0)
    // Its heap is smaller than this library takes for right.
    if (name != "var-length-strings-reused.hdf5")
#endif
      CHECK(values == values_by_library(file, dataset));
    CHECK(std::any_of(values.begin(), values.end(), [](const auto& v) { return !v.empty(); }));
  }
  CHECK(log.lines() == 4);  // only for the compact layout
  CHECK(contains(refusal_of(*folder / "test_string_datasets_latest.hdf5", "variable_length_2d"),
                 "has 2 dimensions"));
}
