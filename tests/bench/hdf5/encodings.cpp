#include "bench/hdf5/encodings.hpp"

#include <feedline/error.hpp>

#include "bench/hdf5/hdf5_files.hpp"
#include "support/hdf5/encoders.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <thread>

namespace feedline::bench {
namespace {

using namespace test;
using enum block_filter;

constexpr std::uint64_t row_values = std::uint64_t{28} * 28;
constexpr std::uint64_t max_chunks = 1024;  ///< limit of chunks that are drawn
constexpr int zstd_level = 3;
constexpr H5Z_filter_t zstd_filter = 32015;
constexpr H5Z_filter_t lz4_filter = 32004;
constexpr H5Z_filter_t bitshuffle_filter = 32008;

/// Values as half precision has them, about 0: shuffled, deflate makes half of them.
std::vector<std::byte> draw_floats(std::uint64_t rows) {
  std::vector<float> values(rows * row_values);
  std::mt19937_64 random{1};
  for (float& value : values) {
    std::uint64_t bits = random();
    float sum = -2;
    for (int i = 0; i < 4; ++i, bits >>= 16) sum += static_cast<float>(bits & 0xffff) / 65536;
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) & 0xffff'e000);
  }
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> draw(const encoding& as, std::uint64_t rows) {
  if (as.floats) return draw_floats(rows);
  const drawn_rows drawn =
      draw_rows({.name = "rows", .row = {28, 28}, .batch_size = 1, .samples = rows});
  std::vector<std::byte> bytes(drawn.images.size());
  std::memcpy(bytes.data(), drawn.images.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> encode(const encoding& as, std::span<const std::byte> raw) {
  std::vector<std::byte> bytes(raw.begin(), raw.end());
  for (const block_step& step : as.steps) {
    if (step.filter == byte_shuffle) bytes = shuffled(bytes, step.element_bytes);
    if (step.filter == deflate) bytes = deflated(bytes, 4);
    if (step.filter == zstd) bytes = zstd_packed(bytes, zstd_level);
    if (step.filter == lz4) bytes = lz4_packed(bytes, 1U << 30U);
    if (step.filter == bit_shuffle_lz4)
      bytes = bitshuffled(bytes, step.element_bytes, 0, bit_compression::lz4);
    if (step.filter == bit_shuffle_zstd)
      bytes = bitshuffled(bytes, step.element_bytes, 0, bit_compression::zstd);
  }
  return bytes;
}

/// One that the library does not have. Chunks are written as they are: none of it is called.
void add_filter(hid_t creation, H5Z_filter_t filter, const std::vector<unsigned>& values) {
  require_hdf5(
      H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, values.size(), values.data()) >= 0,
      "set a filter");
  H5Eclear2(H5E_DEFAULT);
}

void add_filters(const encoding& as, hid_t creation) {
  for (const block_step& step : as.steps) {
    if (step.filter == byte_shuffle) require_hdf5(H5Pset_shuffle(creation) >= 0, "shuffle");
    if (step.filter == deflate) require_hdf5(H5Pset_deflate(creation, 4) >= 0, "deflate");
    if (step.filter == zstd) add_filter(creation, zstd_filter, {zstd_level});
    if (step.filter == lz4) add_filter(creation, lz4_filter, {0});
    if (step.filter == bit_shuffle_lz4)
      add_filter(creation, bitshuffle_filter, {0, 4, step.element_bytes, 0, 2});
    if (step.filter == bit_shuffle_zstd)
      add_filter(creation, bitshuffle_filter, {0, 4, step.element_bytes, 0, 3});
  }
}

}  // namespace

const std::vector<encoding>& all_encodings() {
  static const std::vector<encoding> all = [] {
    constexpr std::size_t chunk = std::size_t{200} << 10;
    std::vector<encoding> made{
        {"deflate", false, {{deflate}}, chunk},
        {"deflate-64", false, {{deflate}}, std::size_t{64} << 10},
        {"shuffle-deflate", true, {{byte_shuffle, 4}, {deflate}}, chunk},
    };
    if (has_zstd) {
      made.push_back({"zstd", false, {{zstd}}, chunk});
      made.push_back({"shuffle-zstd", true, {{byte_shuffle, 4}, {zstd}}, chunk});
    }
    if (has_lz4) {
      made.push_back({"lz4", false, {{lz4}}, chunk});
      made.push_back({"shuffle-lz4", true, {{byte_shuffle, 4}, {lz4}}, chunk});
      made.push_back({"bitshuffle-lz4", true, {{bit_shuffle_lz4, 4}}, chunk});
    }
    if (has_zstd) made.push_back({"bitshuffle-zstd", true, {{bit_shuffle_zstd, 4}}, chunk});
    return made;
  }();
  return all;
}

std::vector<encoding> encodings_named(const std::string& name) {
  if (name.empty()) return all_encodings();
  std::string known;
  for (const encoding& each : all_encodings()) {
    if (each.name == name) return {each};
    known += " " + each.name;
  }
  throw usage_error{"no encoding '" + name + "': there are" + known};
}

double encoded_file::ratio() const {
  const auto bytes = std::accumulate(
      stored.begin(), stored.end(), std::size_t{0},
      [](std::size_t sum, const std::vector<std::byte>& chunk) { return sum + chunk.size(); });
  return static_cast<double>(stored.size() * chunk_bytes()) / static_cast<double>(bytes);
}

encoded_file write_encoded(const std::filesystem::path& folder, const encoding& as,
                           std::uint64_t chunks) {
  encoded_file file{.path = folder / ("decoding_" + as.name + ".h5"),
                    .row_bytes = row_values * (as.floats ? sizeof(float) : 1),
                    .chunks = chunks,
                    .stored = {}};
  file.rows_per_chunk = as.chunk_bytes / file.row_bytes;
  file.stored.resize(std::min(chunks, max_chunks));
  const auto rows = draw(as, file.stored.size() * file.rows_per_chunk);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> encoders;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i)
    encoders.emplace_back([&] {
      for (std::size_t at = next++; at < file.stored.size(); at = next++)
        file.stored[at] =
            encode(as, std::span{rows}.subspan(at * file.chunk_bytes(), file.chunk_bytes()));
    });
  for (std::thread& each : encoders) each.join();

  hdf5_writer writer{file.path};
  const extent_vector extents{chunks * file.rows_per_chunk, 28, 28};
  const auto layout = chunked("", {file.rows_per_chunk, 28, 28},
                              [&](hid_t creation) { add_filters(as, creation); });
  const auto images =
      writer.make("image", as.floats ? H5T_IEEE_F32LE : H5T_STD_U8LE, extents, layout);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
    writer.write_chunk(images.get(), {chunk * file.rows_per_chunk, 0, 0},
                       file.stored[chunk % file.stored.size()]);
  std::vector<std::uint8_t> labels(extents[0]);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  writer.write("label", H5T_STD_U8LE, {extents[0]}, H5T_NATIVE_UINT8, labels.data());
  writer.close();
  return file;
}

}  // namespace feedline::bench
