#include "programs/convert/output/compress.hpp"

#include <zlib.h>

#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#ifdef FEEDLINE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FEEDLINE_HAS_ZSTD
#include <zstd.h>
#endif

namespace convert {
namespace {

using bytes = std::vector<std::byte>;

#if !defined(FEEDLINE_HAS_LZ4) || !defined(FEEDLINE_HAS_ZSTD)
[[noreturn]] void refuse_without(const std::string& library) {
  throw std::runtime_error{"this feedline-convert was built without " + library +
                           "; take --compression deflate or none"};
}
#endif

}  // namespace

bool can_compress(compression filter) noexcept {
#ifdef FEEDLINE_HAS_ZSTD
  if (filter == compression::zstd) return true;
#endif
#ifdef FEEDLINE_HAS_LZ4
  if (filter == compression::lz4) return true;
#endif
  return filter == compression::none || filter == compression::deflate;
}

bytes compress_deflate(std::span<const std::byte> plain, unsigned level, deflate_frame frame) {
  if (plain.size() > std::numeric_limits<uInt>::max())
    throw std::runtime_error{
        "zlib cannot compress a chunk of 4 GiB at once; take smaller --chunk-rows"};
  z_stream stream{};
  if (deflateInit2(&stream, static_cast<int>(level), Z_DEFLATED, static_cast<int>(frame), 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended{&stream, &deflateEnd};
  bytes packed(deflateBound(&stream, static_cast<uLong>(plain.size())));
  if (packed.size() > std::numeric_limits<uInt>::max())
    throw std::runtime_error{
        "zlib cannot compress a chunk of 4 GiB at once; take smaller --chunk-rows"};
  stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
    throw std::runtime_error{"zlib cannot compress a chunk"};
  packed.resize(stream.total_out);
  return packed;
}

#ifdef FEEDLINE_HAS_ZSTD
bytes compress_zstd(std::span<const std::byte> plain, unsigned level) {
  bytes packed(ZSTD_compressBound(plain.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(),
                                         static_cast<int>(level));
  if (ZSTD_isError(size) != 0)
    throw std::runtime_error{std::string{"libzstd cannot compress a chunk: "} +
                             ZSTD_getErrorName(size)};
  packed.resize(size);
  return packed;
}
#else
bytes compress_zstd(std::span<const std::byte> /*plain*/, unsigned /*level*/) {
  refuse_without("libzstd");
}
#endif

#ifdef FEEDLINE_HAS_LZ4
bytes compress_lz4(std::span<const std::byte> plain, std::size_t header) {
  if (plain.size() > LZ4_MAX_INPUT_SIZE)
    throw std::runtime_error{"liblz4 cannot compress a chunk of 2 GiB; take smaller --chunk-rows"};
  const auto size = static_cast<int>(plain.size());
  bytes packed(header + static_cast<std::size_t>(LZ4_compressBound(size)));
  const int stored = LZ4_compress_default(reinterpret_cast<const char*>(plain.data()),
                                          reinterpret_cast<char*>(packed.data() + header), size,
                                          static_cast<int>(packed.size() - header));
  if (stored <= 0) throw std::runtime_error{"liblz4 cannot compress a chunk"};
  packed.resize(header + static_cast<std::size_t>(stored));
  return packed;
}
#else
bytes compress_lz4(std::span<const std::byte> /*plain*/, std::size_t /*header*/) {
  refuse_without("liblz4");
}
#endif

}  // namespace convert
