#include "programs/convert/output/zarr_chunk.hpp"

#include <spdlog/fmt/fmt.h>
#include <zlib.h>

#include <limits>
#include <new>
#include <stdexcept>

#ifdef FEEDLINE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FEEDLINE_HAS_ZSTD
#include <zstd.h>
#endif

namespace convert {
namespace {

using bytes = std::vector<std::byte>;

/// @param window_bits zlib's: 15 for a stream of zlib, 31 for a member of gzip.
bytes zarr_deflate(std::span<const std::byte> plain, unsigned level, int window_bits) {
  if (plain.size() > std::numeric_limits<uInt>::max())
    throw std::runtime_error{"zlib cannot compress a chunk of 4 GiB at once"};
  z_stream stream{};
  if (deflateInit2(&stream, static_cast<int>(level), Z_DEFLATED, window_bits, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  bytes packed(deflateBound(&stream, static_cast<uLong>(plain.size())));
  stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error{"zlib cannot compress a chunk"};
  return packed;
}

#ifdef FEEDLINE_HAS_ZSTD
bytes zarr_zstd(std::span<const std::byte> plain, unsigned level) {
  bytes packed(ZSTD_compressBound(plain.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(),
                                         static_cast<int>(level));
  if (ZSTD_isError(size) != 0)
    throw std::runtime_error{std::string{"libzstd cannot compress a chunk: "} +
                             ZSTD_getErrorName(size)};
  packed.resize(size);
  return packed;
}
#endif

#ifdef FEEDLINE_HAS_LZ4
bytes zarr_lz4(std::span<const std::byte> plain) {
  if (plain.size() > LZ4_MAX_INPUT_SIZE)
    throw std::runtime_error{"liblz4 cannot compress a chunk of 2 GiB: take smaller --chunk-rows"};
  const auto size = static_cast<int>(plain.size());
  bytes packed(4 + static_cast<std::size_t>(LZ4_compressBound(size)));
  for (unsigned i = 0; i < 4; ++i)
    packed[i] = static_cast<std::byte>(plain.size() >> (8 * i) & 0xff);
  const int stored = LZ4_compress_default(reinterpret_cast<const char*>(plain.data()),
                                          reinterpret_cast<char*>(packed.data() + 4), size,
                                          static_cast<int>(packed.size() - 4));
  if (stored <= 0) throw std::runtime_error{"liblz4 cannot compress a chunk"};
  packed.resize(4 + static_cast<std::size_t>(stored));
  return packed;
}
#endif

}  // namespace

bool can_write_zarr(compression filter) noexcept {
#ifdef FEEDLINE_HAS_ZSTD
  if (filter == compression::zstd) return true;
#endif
#ifdef FEEDLINE_HAS_LZ4
  if (filter == compression::lz4) return true;
#endif
  return filter == compression::none || filter == compression::deflate;
}

bytes compress_zarr_chunk(std::span<const std::byte> plain, const hdf5_layout& layout, bool is_v3) {
#ifdef FEEDLINE_HAS_ZSTD
  if (layout.filter == compression::zstd) return zarr_zstd(plain, layout.level);
#endif
#ifdef FEEDLINE_HAS_LZ4
  if (layout.filter == compression::lz4) return zarr_lz4(plain);
#endif
  if (layout.filter == compression::deflate)
    return zarr_deflate(plain, layout.level, is_v3 ? 31 : 15);
  return {plain.begin(), plain.end()};
}

std::string zarr_codec_json(const hdf5_layout& layout, bool is_v3) {
  switch (layout.filter) {
    case compression::none:
      return is_v3 ? "" : "null";
    case compression::deflate:
      return is_v3 ? fmt::format(R"(, {{"name": "gzip", "configuration": {{"level": {}}}}})",
                                 layout.level)
                   : fmt::format(R"({{"id": "zlib", "level": {}}})", layout.level);
    case compression::lz4:
      return is_v3 ? R"(, {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}})"
                   : R"({"id": "lz4", "acceleration": 1})";
    case compression::zstd:
      return is_v3
                 ? fmt::format(R"(, {{"name": "zstd", "configuration": )"
                               R"({{"level": {}, "checksum": false}}}})",
                               layout.level)
                 : fmt::format(R"({{"id": "zstd", "level": {}, "checksum": false}})", layout.level);
  }
  return {};
}

}  // namespace convert
