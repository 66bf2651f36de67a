#include "programs/convert/output/chunk_packer.hpp"

#include "detail/threads.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#ifdef FEEDLINE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FEEDLINE_HAS_ZSTD
#include <zstd.h>
#endif

namespace convert {
namespace {

using bytes = std::vector<std::byte>;

bytes deflated(const bytes& plain, unsigned level) {
  bytes packed(compressBound(plain.size()));
  uLongf size = packed.size();
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(),
                static_cast<int>(level)) != Z_OK)
    throw std::bad_alloc{};
  packed.resize(size);
  return packed;
}

#ifdef FEEDLINE_HAS_ZSTD
bytes in_zstd(const bytes& plain, unsigned level) {
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
/// The layout of HDF5's filter 32004: the total size (64 bits), the size of a block (32 bits), and
/// before each block its stored size (32 bits), most significant byte first. A chunk is one block
/// here.
bytes in_lz4(const bytes& plain) {
  if (plain.size() > LZ4_MAX_INPUT_SIZE) return plain;  // too large for LZ4
  const auto size = static_cast<int>(plain.size());
  constexpr std::size_t before = 16;
  bytes packed(before + static_cast<std::size_t>(LZ4_compressBound(size)));
  const int stored = LZ4_compress_default(reinterpret_cast<const char*>(plain.data()),
                                          reinterpret_cast<char*>(packed.data() + before), size,
                                          static_cast<int>(packed.size() - before));
  if (stored <= 0) throw std::runtime_error{"liblz4 cannot compress a chunk"};
  const auto put = [&](std::size_t at, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
      packed[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)) & 0xff);
  };
  put(0, plain.size(), 8);
  put(8, plain.size(), 4);
  put(12, static_cast<std::uint64_t>(stored), 4);
  packed.resize(before + static_cast<std::size_t>(stored));
  return packed;
}
#endif

bytes compressed(bytes plain, const hdf5_layout& layout) {
#ifdef FEEDLINE_HAS_ZSTD
  if (layout.filter == compression::zstd) return in_zstd(plain, layout.level);
#endif
#ifdef FEEDLINE_HAS_LZ4
  if (layout.filter == compression::lz4) return in_lz4(plain);
#endif
  return deflated(plain, layout.level);
}

packed_chunk pack(std::span<const std::byte> rows, std::size_t chunk_bytes,
                  std::size_t element_bytes, const hdf5_layout& layout) {
  // HDF5's shuffle: the elements' first bytes, then their second ones, …; zeros beyond the rows.
  bytes split(chunk_bytes);
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < rows.size() / element_bytes; ++i)
      split[byte * (chunk_bytes / element_bytes) + i] = rows[i * element_bytes + byte];
  bytes packed = compressed(split, layout);
  // A block of liblz4's that is as large as before would be taken for a plain one.
  if (packed.size() >= chunk_bytes) return {std::move(split), element_bytes > 1 ? 2U : 1U};
  return {std::move(packed), 0};
}

}  // namespace

bool can_pack(compression filter) noexcept {
#ifdef FEEDLINE_HAS_ZSTD
  if (filter == compression::zstd) return true;
#endif
#ifdef FEEDLINE_HAS_LZ4
  if (filter == compression::lz4) return true;
#endif
  return filter == compression::deflate;
}

std::vector<packed_chunk> pack_chunks(std::span<const std::byte> rows, std::size_t chunk_bytes,
                                      std::size_t element_bytes, const hdf5_layout& layout) {
  std::vector<packed_chunk> chunks((rows.size() + chunk_bytes - 1) / chunk_bytes);
  feedline::detail::parallel_for(chunks.size(), [&](std::size_t i) {
    const auto left = rows.subspan(i * chunk_bytes);
    chunks[i] =
        pack(left.first(std::min(chunk_bytes, left.size())), chunk_bytes, element_bytes, layout);
  });
  return chunks;
}

}  // namespace convert
