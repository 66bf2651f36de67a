#include "programs/convert/output/chunk_packer.hpp"

#include "detail/threads.hpp"
#include "programs/convert/output/compress.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace convert {
namespace {

using bytes = std::vector<std::byte>;

/// The layout of HDF5's filter 32004: the total size (64 bits), the size of a block (32 bits), and
/// before each block its stored size (32 bits), most significant byte first. A chunk is one block
/// here.
bytes in_lz4(const bytes& plain) {
  constexpr std::size_t before = 16;
  constexpr std::size_t max_block = 0x7e000000;  // LZ4's
  if (plain.size() > max_block) return plain;
  bytes packed = compress_lz4(plain, before);
  const auto put = [&](std::size_t at, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
      packed[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)) & 0xff);
  };
  put(0, plain.size(), 8);
  put(8, plain.size(), 4);
  put(12, packed.size() - before, 4);
  return packed;
}

bytes compressed(const bytes& plain, const hdf5_layout& layout) {
  if (layout.filter == compression::zstd) return compress_zstd(plain, layout.level);
  if (layout.filter == compression::lz4) return in_lz4(plain);
  return compress_deflate(plain, layout.level, deflate_frame::zlib);
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
