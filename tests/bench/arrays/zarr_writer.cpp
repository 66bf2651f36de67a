#include "bench/arrays/zarr_writer.hpp"

#include "bench/arrays/noise.hpp"
#include "formats/crc32c.hpp"
#include "support/hdf5/encoders.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace feedline::bench {
namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::byte>;

constexpr int zstd_default = 3;  // level 0 means it
constexpr int gzip_level = 5;

bytes gzipped(std::span<const std::byte> raw) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (deflateInit2(&stream, gzip_level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"zlib: deflateInit2"};
  bytes packed(deflateBound(&stream, static_cast<uLong>(raw.size())));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error{"zlib: deflate"};
  return packed;
}

void write_file(const fs::path& path, std::span<const std::byte> content) {
  std::ofstream file{path, std::ios::binary};
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::runtime_error{"cannot write " + path.string()};
}

void write_text(const fs::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span{text}));
}

std::string numbers(const std::vector<std::uint64_t>& all) {
  std::string text;
  for (const std::uint64_t each : all) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "[" + text + "]";
}

std::string texts(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "\"" : ", \"") + each + "\"";
  return "[" + text + "]";
}

std::vector<std::uint64_t> shard_shape(const zarr_array& array) {
  std::vector<std::uint64_t> shape = array.chunk;
  shape[0] *= std::max<std::uint64_t>(array.chunks_per_shard, 1);
  return shape;
}

std::string metadata_of(const zarr_array& array, const zarr_encoding& as) {
  const std::string little = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  std::string codecs = "[" + little + as.codecs + "]";
  if (array.chunks_per_shard != 0)
    codecs = R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": )" +
             numbers(array.chunk) + R"(, "codecs": )" + codecs + R"(, "index_codecs": [)" + little +
             R"(, {"name": "crc32c"}], "index_location": "end"}}])";
  return R"({"zarr_format": 3, "node_type": "array", "attributes": {}, "shape": )" +
         numbers(array.shape) + R"(, "data_type": ")" + array.type +
         R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" +
         numbers(shard_shape(array)) +
         R"(}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}})" +
         R"(, "fill_value": 0, "codecs": )" + codecs + R"(, "dimension_names": )" +
         texts(array.dimensions) + ", \"storage_transformers\": []}";
}

void append_number(bytes& to, std::uint64_t number, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    to.push_back(static_cast<std::byte>(number >> (8 * i) & 0xffU));
}

std::uint64_t size_bytes_of(const std::string& type) {
  constexpr std::string_view digits = "0123456789";
  return std::stoull(type.substr(type.find_first_of(digits))) / 8;
}

/// Chunks one after the other, and their index.
bytes shard_of(std::uint64_t first, std::uint64_t count, std::uint64_t chunks,
               std::span<const bytes> encoded) {
  bytes shard;
  bytes index;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first + i >= chunks) {
      append_number(index, ~std::uint64_t{0}, 8);
      append_number(index, ~std::uint64_t{0}, 8);
      continue;
    }
    const bytes& chunk = encoded[(first + i) % encoded.size()];
    append_number(index, shard.size(), 8);
    append_number(index, chunk.size(), 8);
    shard.insert(shard.end(), chunk.begin(), chunk.end());
  }
  append_number(index, detail::crc32c(index), 4);
  shard.insert(shard.end(), index.begin(), index.end());
  return shard;
}

}  // namespace

std::vector<zarr_encoding> zarr_encodings(std::size_t element_bytes) {
  std::vector<zarr_encoding> all;
  if (test::has_zstd)
    all.push_back(
        {"zstd", R"(, {"name": "zstd", "configuration": {"level": 0, "checksum": false}})",
         block_filter::zstd,
         [](std::span<const std::byte> raw) { return test::zstd_packed(raw, zstd_default); }});
  if (test::has_blosc)
    all.push_back({"blosc-lz4",
                   R"(, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, )"
                   R"("shuffle": "shuffle", "typesize": )" +
                       std::to_string(element_bytes) + R"(, "blocksize": 0}})",
                   block_filter::blosc_lz4, [element_bytes](std::span<const std::byte> raw) {
                     return test::blosc_packed(raw, element_bytes, "lz4", 1);
                   }});
  all.push_back({"gzip", R"(, {"name": "gzip", "configuration": {"level": 5}})", block_filter::gzip,
                 gzipped});
  return all;
}

void write_zarr_group(const fs::path& store) {
  fs::create_directories(store);
  write_text(store / "zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {}})");
}

zarr_bytes write_zarr(const fs::path& store, const zarr_array& array, const zarr_encoding& as,
                      std::span<const bytes> encoded) {
  const fs::path folder = array.path.empty() ? store : store / array.path;
  fs::create_directories(folder);
  write_text(folder / "zarr.json", metadata_of(array, as));
  std::vector<std::uint64_t> grid;
  std::uint64_t chunks = 1;
  std::uint64_t inner = 1;  // chunks at one index of the first dimension
  std::uint64_t decoded = size_bytes_of(array.type);
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    grid.push_back((array.shape[d] + array.chunk[d] - 1) / array.chunk[d]);
    chunks *= grid.back();
    if (d > 0) inner *= grid.back();
    decoded *= array.shape[d];
  }
  const std::uint64_t in_shard = std::max<std::uint64_t>(array.chunks_per_shard, 1);
  if (in_shard > 1 && inner > 1)
    throw std::logic_error{"shards are of arrays that are chunked along the first dimension"};
  std::atomic<std::uint64_t> stored{0};
  on_all_cores((chunks + in_shard - 1) / in_shard, [&](std::size_t object) {
    std::vector<std::uint64_t> place(grid.size());
    std::uint64_t left = object;
    for (std::size_t d = grid.size(); d-- > 0; left /= d > 0 ? grid[d] : 1)
      place[d] = d > 0 ? left % grid[d] : left;
    fs::path path = folder / "c";
    for (const std::uint64_t each : place) path /= std::to_string(each);
    fs::create_directories(path.parent_path());
    const bytes& single = encoded[object % encoded.size()];
    const bytes shard = array.chunks_per_shard == 0
                            ? bytes{}
                            : shard_of(object * in_shard, in_shard, chunks, encoded);
    const bytes& content = array.chunks_per_shard == 0 ? single : shard;
    write_file(path, content);
    stored += content.size();
  });
  return {stored, decoded};
}

}  // namespace feedline::bench
