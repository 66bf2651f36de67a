#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/encoders.hpp"
#include "support/hdf5/filter_cases.hpp"
#include "support/hdf5/writer.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const hdf5_options nothing_resident{.max_resident_bytes = 0};

using filters = std::function<void(hid_t creation)>;

void set(bool succeeded) {
  require_hdf5(succeeded, "set a filter");
}

void deflate_1(hid_t creation) {
  set(H5Pset_deflate(creation, 1) >= 0);
}

void shuffle_deflate(hid_t creation) {
  set(H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 1) >= 0);
}

struct written_chunk {
  bytes stored;
  std::uint32_t mask = 0;
};

/// Writes a file of a dataset "x" whose chunks are stored so, from the first row on.
std::filesystem::path write_chunks(const std::filesystem::path& path, hid_t type,
                                   const extent_vector& extents, const extent_vector& chunk,
                                   const filters& apply, const std::vector<written_chunk>& chunks) {
  hdf5_writer writer{path};
  {
    const auto dataset = writer.make("x", type, extents, chunked("", chunk, apply));
    for (std::size_t i = 0; i < chunks.size(); ++i)
      writer.write_chunk(dataset.get(), {i * chunk[0], 0}, chunks[i].stored, chunks[i].mask);
  }
  return writer.close();
}

/// "deflate", "byte_shuffle of 4", …
std::string text_of(const block_step& step) {
  const std::string of = " of " + std::to_string(step.element_bytes);
  switch (step.filter) {
    case block_filter::deflate:
      return "deflate";
    case block_filter::zstd:
      return "zstd";
    case block_filter::lz4:
      return "lz4";
    case block_filter::byte_shuffle:
      return "byte_shuffle" + of;
    case block_filter::bit_shuffle:
      return "bit_shuffle" + of;
    case block_filter::bit_shuffle_lz4:
      return "bit_shuffle_lz4" + of;
    case block_filter::bit_shuffle_zstd:
      return "bit_shuffle_zstd" + of;
    case block_filter::blosc_lz4:
      return "blosc_lz4";
    case block_filter::blosc_zstd:
      return "blosc_zstd";
    case block_filter::blosc_zlib:
      return "blosc_zlib";
    case block_filter::fletcher32:
      return "fletcher32";
    case block_filter::gzip:
    case block_filter::image:
    case block_filter::window:
    case block_filter::sparse_row:
    case block_filter::other:
      break;
  }
  return "other";
}

std::vector<std::string> steps_of(const encoded_blocks& blocks, std::size_t field) {
  std::vector<std::string> steps;
  for (const block_step& step : blocks.steps(field)) steps.push_back(text_of(step));
  return steps;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("hdf5 blocks: chunks of the library are described step by step, and decode to their rows",
          "[dataset][host]") {
  struct setting {
    filters apply;
    std::function<texts(const std::string& element)> steps;
  };
  const std::vector<setting> settings{
      {deflate_1, [](const auto&) { return texts{"deflate"}; }},
      {shuffle_deflate,
       [](const auto& of) {
         return texts{"byte_shuffle of " + of, "deflate"};
       }},
      {[](hid_t c) { set(H5Pset_fletcher32(c) >= 0); },
       [](const auto&) { return texts{"fletcher32"}; }},
      {[](hid_t c) {
         shuffle_deflate(c);
         set(H5Pset_fletcher32(c) >= 0);
       },
       [](const auto& of) {
         return texts{"byte_shuffle of " + of, "deflate", "fletcher32"};
       }},
      {[](hid_t c) {
         set(H5Pset_fletcher32(c) >= 0);
         shuffle_deflate(c);
       },
       [](const auto& of) {
         return texts{"fletcher32", "byte_shuffle of " + of, "deflate"};
       }}};
  const temporary_directory folder;
  for (const setting& each : settings)
    for (const hid_t type : {H5T_STD_U8LE, H5T_STD_I16LE, H5T_IEEE_F32LE, H5T_IEEE_F64LE})
      for (const hsize_t chunk : {hsize_t{2}, hsize_t{16}, hsize_t{25}, hsize_t{50}})
        for (const content& kind : contents()) {
          const bytes values = kind.make(50 * 7 * 11 * H5Tget_size(type));
          hdf5_writer writer{folder.path() / "file.h5"};
          writer.write("x", type, {50, 7, 11}, type, values.data(),
                       chunked("", {chunk, 7, 11}, each.apply));
          const auto data = open_hdf5(writer.close(), {{"x"}}, nothing_resident);
          const auto blocks = data->encoded();
          REQUIRE(blocks);
          INFO(chunk << " rows a chunk, " << kind.name);
          CHECK(blocks->rows() == chunk);
          CHECK(steps_of(*blocks, 0) == each.steps(std::to_string(H5Tget_size(type))));
          check_encoded(*data);
        }
}

TEST_CASE(
    "hdf5 blocks: every filter that feedline undoes is described or is other, and decodes to all "
    "written rows",
    "[dataset][host]") {
  constexpr std::size_t row = 336;  // divides by the elements of all filters
  const auto step_of = [](const detail::hdf5_filter& filter) -> std::string {
    if (filter.id == 32004) return "lz4";
    if (filter.id == 32015) return "zstd";
    if (filter.id == 32008 && (filter.values[3] == 0 || filter.values[4] != 0))
      return std::map<unsigned, std::string>{
                 {0, "bit_shuffle of "}, {2, "bit_shuffle_lz4 of "}, {3, "bit_shuffle_zstd of "}}
                 .at(filter.values[4]) +
             std::to_string(filter.values[2]);
    return "other";
  };
  const temporary_directory folder;
  std::size_t tried = 0;
  for (const filter_case& each : filter_cases()) {
    if (each.filter.id < 10) continue;  // the library sets their values itself
    ++tried;
    std::vector<bytes> chunks;
    std::vector<written_chunk> stored;
    for (const std::size_t number : {0U, 1U, 2U}) {
      chunks.push_back(contents()[number].make(8 * row));
      stored.push_back({each.encode(chunks.back())});
    }
    const auto& values = each.filter.values;
    const auto apply = [&](hid_t creation) {
      set(H5Pset_filter(creation, each.filter.id, H5Z_FLAG_OPTIONAL, values.size(),
                        values.data()) >= 0);
      H5Eclear2(H5E_DEFAULT);  // the library lacks the filter, and continues
    };
    const auto data = open_hdf5(
        write_chunks(folder.path() / "file.h5", H5T_STD_U8LE, {21, row}, {8, row}, apply, stored),
        {{"x"}}, nothing_resident);
    INFO(each.name);
    const auto blocks = data->encoded();
    REQUIRE(blocks);
    CHECK(steps_of(*blocks, 0) == texts{step_of(each.filter)});
    check_encoded(*data);
    for (const std::size_t number : {0U, 1U, 2U})
      CHECK(decoded_block(*blocks, 0, number, row) == chunks[number]);
  }
  CHECK(tried > 0);
}

TEST_CASE("hdf5 blocks: steps that a chunk's filter mask leaves out are skipped",
          "[dataset][host]") {
  const temporary_directory folder;
  constexpr std::size_t row = 12;
  constexpr std::ptrdiff_t chunk_bytes = 8 * row;
  const auto values = various_bytes(5 * 8 * row);
  const auto chunk_of = [&](std::uint32_t number) {
    const auto first = values.begin() + number * chunk_bytes;
    return bytes{first, first + chunk_bytes};
  };
  std::vector<written_chunk> stored;
  for (std::uint32_t mask = 0; mask < 4; ++mask) {
    bytes chunk = chunk_of(mask);
    if ((mask & 1) == 0) chunk = shuffled(chunk, 2);
    if ((mask & 2) == 0) chunk = deflated(chunk);
    // A bit for no filter means nothing.
    stored.push_back({chunk, mask | (mask == 1 ? 64U : 0U)});
  }
  const auto data = open_hdf5(write_chunks(folder.path() / "masks.h5", H5T_STD_U16LE, {34, 6},
                                           {8, 6}, shuffle_deflate, stored),
                              {{"x"}}, nothing_resident);
  const auto blocks = data->encoded();
  for (std::uint32_t mask = 0; mask < 4; ++mask) {
    CHECK(blocks->stored(0, mask).skipped == mask);
    CHECK(decoded_block(*blocks, 0, mask, row) == chunk_of(mask));
  }
  CHECK(blocks->stored(0, 2).bytes == 8 * row);
  CHECK(blocks->stored(0, 3).bytes == 8 * row);
  check_encoded(*data);
}

TEST_CASE("hdf5 blocks: chunks never written come decoded, as the fill value", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "fill.h5"};
  const auto with_fill = [](hid_t c) {
    const float fill = 2.5F;
    shuffle_deflate(c);
    set(H5Pset_fill_value(c, H5T_NATIVE_FLOAT, &fill) >= 0);
  };
  const std::vector<float> rows(8 * 3, 1.25F);
  writer.write_rows(
      writer.make("some", H5T_IEEE_F32LE, {50, 3}, chunked("", {8, 3}, with_fill)).get(), 16, 8,
      H5T_NATIVE_FLOAT, rows.data());
  (void)writer.make("none", H5T_IEEE_F32LE, {50, 3}, chunked("", {8, 3}, with_fill));
  const auto file = writer.close();
  const auto bytes_of = [](float value) {
    const std::vector<float> values(8 * 3, value);
    const auto all = std::as_bytes(std::span{values});
    return bytes{all.begin(), all.end()};
  };
  for (const std::string name : {"some", "none"}) {
    const auto data = open_hdf5(file, {{name}}, nothing_resident);
    const auto blocks = data->encoded();
    check_encoded(*data);
    CHECK(steps_of(*blocks, 0) == texts{"byte_shuffle of 4", "deflate"});
    for (const std::uint64_t block : {0U, 2U, 6U}) {
      const bool is_written = name == "some" && block == 2;
      CHECK(blocks->stored(0, block).skipped == (is_written ? 0U : 3U));
      CHECK((blocks->stored(0, block).bytes == 96) == !is_written);
      if (!is_written) CHECK(stored_bytes(*blocks, 0, block) == bytes_of(2.5F));
      CHECK(decoded_block(*blocks, 0, block, 12) == bytes_of(is_written ? 1.25F : 2.5F));
    }
    CHECK(blocks->max_stored_bytes(0) == 96);
  }
}

TEST_CASE("hdf5 blocks: a last chunk may be left unfiltered, and may be larger than the dataset",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "ends.h5", {.latest_format = true}};
  const auto values = various_bytes(20 * 6);
  writer.write("raw end", H5T_STD_U8LE, {20, 6}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {8, 6}, [](hid_t c) {
                 shuffle_deflate(c);
                 set(H5Pset_chunk_opts(c, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
               }));
  auto large = chunked("", {64, 6}, deflate_1);
  large.max_extents = {H5S_UNLIMITED, 6};
  writer.write("large", H5T_STD_U8LE, {20, 6}, H5T_NATIVE_UINT8, values.data(), large);
  const auto file = writer.close();
  const auto raw_end = open_hdf5(file, {{"raw end"}}, nothing_resident);
  check_encoded(*raw_end);
  CHECK(raw_end->encoded()->stored(0, 1).skipped == 0);
  CHECK(raw_end->encoded()->stored(0, 2).skipped == 3);
  CHECK(raw_end->encoded()->stored(0, 2).bytes == 48);
  const auto whole = open_hdf5(file, {{"large"}}, nothing_resident);
  CHECK(whole->encoded()->rows() == 64);
  check_encoded(*whole);
}

// Files of the jHDF project, made by h5py and the filters' own plugins.
TEST_CASE("hdf5 blocks: those of other programs' files decode to their rows", "[dataset][host]") {
  const auto folder = find_test_data("hdf5/jhdf");
  if (!folder)
    FEEDLINE_SKIP("no jHDF files: name the folder above hdf5/jhdf in FEEDLINE_TEST_DATA");
  std::set<std::string> seen;
  for (const std::string name : {"lz4_datasets.hdf5", "bitshuffle_datasets.hdf5"})
    for (const auto& listing : list_hdf5_fields(*folder / name)) {
      if (!listing.refusal.empty() || listing.is_ragged) continue;
      const auto data = open_hdf5(*folder / name, {{listing.dataset}}, nothing_resident);
      const auto blocks = data->encoded();
      if (!blocks) continue;
      INFO(name << ' ' << listing.dataset);
      check_encoded(*data);
      for (const std::string& step : steps_of(*blocks, 0)) seen.insert(step);
    }
  CAPTURE(seen);
  if (has_lz4) CHECK(seen.count("lz4") == 1);
  for (const char* size : {"1", "2", "4", "8"}) {
    CHECK(seen.count(std::string{"bit_shuffle of "} + size) == 1);
    if (has_lz4) CHECK(seen.count(std::string{"bit_shuffle_lz4 of "} + size) == 1);
  }
}

TEST_CASE("hdf5 blocks: frames of Blosc are described by the compressor that the file names",
          "[dataset][host]") {
  const temporary_directory folder;
  const bytes rows = contents()[0].make(4 * 16);
  for (const auto& [number, text] :
       std::vector<std::pair<unsigned, std::string>>{{0, "other"},
                                                     {1, "blosc_lz4"},
                                                     {2, "blosc_lz4"},
                                                     {3, "other"},
                                                     {4, "blosc_zlib"},
                                                     {5, "blosc_zstd"}}) {
    const std::vector<unsigned> values{2, 2, 4, 64, 5, 1, number};
    const auto apply = [&](hid_t creation) {
      set(H5Pset_filter(creation, 32001, H5Z_FLAG_OPTIONAL, values.size(), values.data()) >= 0);
      H5Eclear2(H5E_DEFAULT);  // the library lacks the filter, and continues
    };
    const std::vector<written_chunk> chunk{{rows, 1}};  // stored without the filter
    const auto data = open_hdf5(
        write_chunks(folder.path() / "file.h5", H5T_STD_U8LE, {4, 16}, {4, 16}, apply, chunk),
        {{"x"}}, nothing_resident);
    const auto blocks = data->encoded();
    if (!has_blosc) continue;
    REQUIRE(blocks);
    CHECK(steps_of(*blocks, 0) == texts{text});
    check_encoded(*data);
  }
}
