#include "programs/convert/output/packed_chunks.hpp"

#include "detail/parallel_for.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace convert {
namespace {

/// HDF5's shuffle: the elements' first bytes, then their second ones, …
void split_bytes(std::span<const std::byte> from, std::size_t element_bytes,
                 std::span<std::byte> to) {
  const std::size_t elements = from.size() / element_bytes;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < elements; ++i)
      to[byte * elements + i] = from[i * element_bytes + byte];
}

packed_chunk pack(std::span<const std::byte> rows, std::size_t chunk_bytes,
                  std::size_t element_bytes, unsigned level) {
  std::vector<std::byte> plain(chunk_bytes);  // zeros beyond the rows
  std::memcpy(plain.data(), rows.data(), rows.size());
  const bool shuffled = element_bytes > 1;
  if (shuffled) {
    std::vector<std::byte> split(chunk_bytes);
    split_bytes(plain, element_bytes, split);
    plain.swap(split);
  }
  std::vector<std::byte> packed(compressBound(chunk_bytes));
  uLongf size = packed.size();
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), chunk_bytes,
                static_cast<int>(level)) != Z_OK)
    throw std::runtime_error{"zlib cannot compress a chunk: there is no memory"};
  if (size >= chunk_bytes) return {std::move(plain), shuffled ? 2U : 1U};
  packed.resize(size);
  return {std::move(packed), 0};
}

}  // namespace

std::vector<packed_chunk> pack_chunks(std::span<const std::byte> rows, std::size_t chunk_bytes,
                                      std::size_t element_bytes, unsigned level) {
  std::vector<packed_chunk> chunks((rows.size() + chunk_bytes - 1) / chunk_bytes);
  feedline::detail::parallel_for(chunks.size(), [&](std::size_t i) {
    const auto left = rows.subspan(i * chunk_bytes);
    chunks[i] =
        pack(left.first(std::min(chunk_bytes, left.size())), chunk_bytes, element_bytes, level);
  });
  return chunks;
}

}  // namespace convert
