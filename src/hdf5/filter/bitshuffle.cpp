#include "hdf5/filter/input.hpp"
#include "hdf5/filter/planes.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::detail {

namespace {

constexpr std::size_t together = 8;  // elements: fewer than eight at the end are stored unchanged

/// Elements of a block, if the file does not say.
std::size_t default_block(std::size_t element_size) noexcept {
  constexpr std::size_t wanted_bytes = 8192;
  constexpr std::size_t least = 128;
  return std::max(wanted_bytes / element_size / together * together, least);
}

/// Calls `join(count, to)` for each block of the elements, the last of which may be smaller, then
/// copies the elements that are left over.
/// @param block Number of elements, a multiple of 8, not 0.
/// @param input Must be at the rest of the stored bytes once all blocks are joined.
template <class Join>
void for_each_block(std::span<std::byte> out, std::size_t element_size, std::size_t block,
                    hdf5_filter_input& input, Join&& join) {
  const std::size_t whole = out.size() / element_size / together * together;
  for (std::size_t done = 0; done < whole;) {
    const std::size_t count = std::min(block, whole - done);
    join(count, out.subspan(done * element_size, count * element_size));
    done += count;
  }
  const auto left = out.subspan(whole * element_size);
  const auto plain = input.take(left.size());
  if (!left.empty()) std::memcpy(left.data(), plain.data(), left.size());
}

/// Client data: 2: bytes of an element; 3: elements of a block, or 0.
std::size_t undo_plain(std::span<const unsigned> values, std::span<const std::byte> stored,
                       std::span<std::byte> out, hdf5_decoder& scratch) {
  const std::size_t size = values[2];
  const bool says = values.size() > 3 && values[3] != 0;
  if (stored.size() % size != 0)
    throw hdf5_filter_error{std::to_string(stored.size()) + " bytes are not whole elements of " +
                            std::to_string(size)};
  hdf5_filter_input input{stored};
  for_each_block(out, size, says ? values[3] : default_block(size), input,
                 [&](std::size_t count, std::span<std::byte> to) {
                   join_bit_planes(input.take(to.size()).data(), count, size,
                                   scratch.planes.take(to.size()), to.data());
                 });
  return stored.size();
}

/// Format: the total size (64 bits) and a block's (32), most significant byte first; then each
/// block's stored size (32 bits) and its bytes.
template <class Decompress>
std::size_t undo_compressed(std::size_t size, std::span<const std::byte> stored,
                            std::span<std::byte> out, hdf5_decoder& scratch,
                            Decompress&& decompress) {
  hdf5_filter_input input{stored};
  const auto total = input.big_endian<std::uint64_t>();
  const std::size_t block_bytes = input.big_endian<std::uint32_t>();
  if (total > out.size()) fail_for_claim(total, out.size());
  if (total % size != 0)
    throw hdf5_filter_error{"claims " + std::to_string(total) +
                            " bytes, which are not whole elements of " + std::to_string(size)};
  const std::size_t block = block_bytes == 0 ? default_block(size) : block_bytes / size;
  if (block == 0 || block % together != 0)
    throw hdf5_filter_error{"claims blocks of " + std::to_string(block_bytes) +
                            " bytes, which are not whole eights of elements of " +
                            std::to_string(size)};

  out = out.first(static_cast<std::size_t>(total));
  for_each_block(out, size, block, input, [&](std::size_t count, std::span<std::byte> to) {
    const auto planes = scratch.block.take(to.size());
    decompress(input.take(input.big_endian<std::uint32_t>()), planes);
    join_bit_planes(planes.data(), count, size, scratch.planes.take(to.size()), to.data());
  });
  return out.size();
}

#ifdef FEEDLINE_HAS_LZ4
std::size_t undo_by_lz4(std::span<const unsigned> values, std::span<const std::byte> stored,
                        std::span<std::byte> out, hdf5_decoder& scratch) {
  return undo_compressed(values[2], stored, out, scratch, undo_lz4_block);
}
#else
constexpr hdf5_undo_function* undo_by_lz4 = nullptr;
#endif

#ifdef FEEDLINE_HAS_ZSTD
std::size_t undo_by_zstd(std::span<const unsigned> values, std::span<const std::byte> stored,
                         std::span<std::byte> out, hdf5_decoder& scratch) {
  return undo_compressed(values[2], stored, out, scratch,
                         [&](std::span<const std::byte> block, std::span<std::byte> planes) {
                           const std::size_t got = undo_zstd({}, block, planes, scratch);
                           if (got != planes.size())
                             throw hdf5_filter_error{"a block of " + std::to_string(block.size()) +
                                                     " bytes decodes to " + std::to_string(got) +
                                                     ", not to " + std::to_string(planes.size())};
                         });
}
#else
constexpr hdf5_undo_function* undo_by_zstd = nullptr;
#endif

hdf5_undo by_library(hdf5_undo_function* function, std::string_view library) {
  if (function == nullptr) return {.refusal = without_library(library)};
  return {.effect = hdf5_size_effect::compression, .function = function};
}

}  // namespace

hdf5_undo undo_of_bitshuffle(std::span<const unsigned> values) {
  enum : unsigned { none = 0, lz4 = 2, zstd = 3 };
  if (values.size() < 3 || values[2] == 0)
    return {.refusal = "does not say how large an element is"};
  if (values.size() > 3 && values[3] % together != 0)
    return {.refusal = "has blocks of " + std::to_string(values[3]) +
                       " elements, which is not a multiple of 8"};
  switch (values.size() > 4 ? values[4] : none) {
    case none:
      return {.function = undo_plain};
    case lz4:
      return by_library(undo_by_lz4, "liblz4");
    case zstd:
      return by_library(undo_by_zstd, "libzstd");
    default:
      return {.refusal = "compresses by method " + std::to_string(values[4]) +
                         ", which feedline does not know"};
  }
}

}  // namespace feedline::detail
