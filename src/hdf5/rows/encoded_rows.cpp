#include "hdf5/rows/encoded_rows.hpp"

#include "hdf5/rows/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace feedline::detail {
namespace {

/// The step of a filter, by its id as registered with The HDF Group.
block_step step_of(const hdf5_filter& filter) {
  const auto value = [&](std::size_t place) {
    return place < filter.values.size() ? filter.values[place] : 0U;
  };
  switch (filter.id) {
    case 1:
      return {block_filter::deflate};
    case 2:
      if (value(0) == 0) break;
      return {block_filter::byte_shuffle, value(0)};
    case 3:
      return {block_filter::fletcher32};
    case 32001:  // its last value is the compressor
      if (value(6) == 1 || value(6) == 2) return {block_filter::blosc_lz4};
      if (value(6) == 4) return {block_filter::blosc_zlib};
      if (value(6) == 5) return {block_filter::blosc_zstd};
      break;
    case 32004:
      return {block_filter::lz4};
    case 32008:  // element's bytes, block's elements, compression (which stores the block)
      if (value(4) == 2) return {block_filter::bit_shuffle_lz4, value(2)};
      if (value(4) == 3) return {block_filter::bit_shuffle_zstd, value(2)};
      if (value(3) != 0 || value(4) != 0) break;
      return {block_filter::bit_shuffle, value(2)};
    case 32015:
      return {block_filter::zstd};
    default:
      break;
  }
  return {};
}

class hdf5_encoded_rows final : public encoded_rows {
 public:
  /// @param found Its chunks, once their filters are undone, must be blocks of rows.
  hdf5_encoded_rows(const hdf5_resolved_field& found, bool tiles)
      : blocks_{found.file, found.name, found.storage, found.chunks, tiles},
        all_steps_{std::numeric_limits<std::uint32_t>::max() >>
                   (32 - found.storage.filters.pipeline().size())} {
    for (const hdf5_filter& filter : found.storage.filters.pipeline())
      steps_.push_back(step_of(filter));
    for (std::uint64_t block = 0; block < blocks_.map().size(); ++block)
      max_stored_bytes_ = std::max(max_stored_bytes_, stored(block).bytes);
  }

  std::uint64_t rows_per_block() const noexcept override { return blocks_.rows_per_block(); }
  std::span<const block_step> steps() const noexcept override { return steps_; }
  std::size_t max_stored_bytes() const noexcept override { return max_stored_bytes_; }

  encoded_blocks::stored_block stored(std::uint64_t block) const noexcept override {
    if (!is_stored(block)) return {.bytes = blocks_.chunk_value_bytes(), .skipped = all_steps_};
    const hdf5_chunk& chunk = blocks_.map()[block];
    return {.bytes = chunk.bytes, .skipped = chunk.filter_mask & all_steps_};
  }
  void read(std::uint64_t block, std::span<std::byte> out) const override {
    if (is_stored(block))
      blocks_.read_stored(block, out);
    else
      blocks_.read(block, out);
  }
  void decode(std::span<const std::byte> stored, std::uint32_t skipped,
              std::span<std::byte> out) const override {
    blocks_.decode_stored(stored, skipped, out);
  }

 private:
  /// A written chunk of no bytes is damaged, which will be noticed when it is decoded.
  [[nodiscard]] bool is_stored(std::uint64_t block) const noexcept {
    const hdf5_chunk& chunk = blocks_.map()[block];
    return chunk.is_written() && chunk.bytes != 0;
  }

  const hdf5_chunk_blocks blocks_;
  const std::uint32_t all_steps_;
  std::vector<block_step> steps_ = {};
  std::size_t max_stored_bytes_ = 0;
};

/// Reason why chunks cannot go to devices as they are stored; empty if they can, or there are none.
std::string why_not_encoded(const hdf5_storage_layout& place,
                            std::span<const std::uint64_t> extents, bool tiles) {
  if (place.is_spread()) return "values are members of records";
  if (place.swapped_bytes != 1) return "the byte order is not the machine's";
  if (tiles) return {};
  if (place.chunk.front() == 1) return "a chunk is a single sample";
  if (!std::ranges::equal(std::span{place.chunk}.subspan(1), extents.subspan(1)))
    return "chunks split rows";
  return {};
}

}  // namespace

std::string decoding_of(const hdf5_storage_layout& place, std::span<const std::uint64_t> extents) {
  if (place.stored != hdf5_storage_layout::layout::chunked || place.filters.empty() ||
      place.chunk.size() != extents.size())
    return {};
  std::string why =
      place.refusal.empty() ? why_not_encoded(place, extents, false) : "by the HDF5 library";
  for (const hdf5_filter& filter : place.filters.pipeline())
    if (why.empty() && step_of(filter).filter == block_filter::other)
      why = "no device undoes the filter " + hdf5_filters{{filter}}.describe();
  return why.empty() ? "readers or devices" : "readers alone: " + why;
}

std::shared_ptr<const encoded_rows> make_hdf5_encoded_rows(const hdf5_resolved_field& found,
                                                           bool tiles) {
  const hdf5_storage_layout& place = found.storage;
  if (!found.chunks || !place.refusal.empty() || place.filters.empty() ||
      !why_not_encoded(place, found.chunks->extents(), tiles).empty())
    return nullptr;
  return std::make_shared<const hdf5_encoded_rows>(found, tiles);
}

}  // namespace feedline::detail
