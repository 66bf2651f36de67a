#include "formats/zarr/blocks.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Elements from one element to the next along each axis of a chunk.
/// @param order Stored axis i is axis order[i]; empty: C order.
std::vector<std::uint64_t> strides_of(std::span<const std::uint64_t> chunk,
                                      std::span<const std::size_t> order) {
  std::vector<std::uint64_t> strides(chunk.size());
  std::uint64_t stride = 1;
  for (std::size_t i = chunk.size(); i-- > 0;) {
    const std::size_t axis = order.empty() ? i : order[i];
    strides[axis] = stride;
    stride *= chunk[axis];
  }
  return strides;
}

}  // namespace

zarr_blocks::zarr_blocks(std::shared_ptr<const zarr_chunks> chunks, bool tiles)
    : chunks_{std::move(chunks)},
      extents_{tiles ? array().chunk : array().shape},
      grid_(extents_.size(), 1),
      strides_{strides_of(array().chunk, array().order)},
      tile_strides_{strides_of(array().chunk, {})},
      element_bytes_{array().type.bytes()},
      chunk_bytes_{array().chunk_bytes()},
      whole_rows_{std::equal(extents_.begin() + 1, extents_.end(), array().chunk.begin() + 1) &&
                  strides_ == tile_strides_} {
  if (tiles) return;
  grid_.assign(chunks_->grid().begin(), chunks_->grid().end());
  for (std::size_t i = 1; i < grid_.size(); ++i) chunks_per_block_ *= grid_[i];
}

void zarr_blocks::read(std::uint64_t block, std::span<std::byte> out) const {
  const auto with = scratch_.take();
  const std::uint64_t first = block * chunks_per_block_;
  for (std::uint64_t chunk = first; chunk < first + chunks_per_block_; ++chunk) try {
      read_chunk(chunk, *with, out);
    } catch (const dataset_error& failure) {
      refuse(failure, chunk, block * rows_per_block());
    }
}

void zarr_blocks::read_chunk(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const {
  bool is_written = chunks_->is_written(chunk);
  if (is_written && whole_rows_) {
    is_written = decode(chunk, with, out);
  } else if (is_written) {
    with.chunk.resize(chunk_bytes_);
    is_written = decode(chunk, with, with.chunk);
    if (is_written) put(chunk, array().chunk.front(), with.chunk.data(), strides_, out);
  }
  if (!is_written) put(chunk, array().chunk.front(), nullptr, {}, out);
}

/// @param out Memory of a chunk. @return False if the chunk is not there after all.
bool zarr_blocks::decode(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const {
  const auto stored = chunks_->read(chunk, with.stored);
  if (stored.empty()) return false;
  try {
    array().codecs.decode(stored, with.decoder, out);
  } catch (const hdf5_filter_error& failure) {
    chunks_->require_unchanged(chunk);  // a change is the better reason
    throw dataset_error{
        {.path = chunks_->store().path_of(chunks_->key_of(chunk)), .field = array().path},
        std::string{"does not decode: "} + failure.what() +
            "; copy it again, or write the array again"};
  }
  chunks_->require_unchanged(chunk);
  reverse_elements(out, array().swapped_bytes);
  return true;
}

void zarr_blocks::read_stored(std::uint64_t block, std::vector<std::byte>& into) const try {
  if (const auto stored = chunks_->read(block, into); stored.data() != into.data())
    into.assign(stored.begin(), stored.end());
  chunks_->require_unchanged(block);
} catch (const dataset_error& failure) {
  refuse(failure, block, block * rows_per_block());
}

void zarr_blocks::read_stored(std::uint64_t block, std::span<std::byte> out) const try {
  chunks_->read(block, out);
  chunks_->require_unchanged(block);
} catch (const dataset_error& failure) {
  refuse(failure, block, block * rows_per_block());
}

void zarr_blocks::refuse(const dataset_error& failure, std::uint64_t chunk,
                         std::uint64_t sample) const {
  dataset_location where = failure.where();
  where.field = array().path;
  where.sample = sample;
  throw dataset_error{std::move(where), chunks_->describe(chunk) + ": " + failure.message()};
}

/// Copies the part of a chunk's first rows that is inside the array to its position in whole rows.
/// @param values Elements. Null: the fill value is repeated instead.
/// @param strides Elements from one value to the next along each axis.
void zarr_blocks::put(std::uint64_t chunk, std::uint64_t rows, const std::byte* values,
                      std::span<const std::uint64_t> strides, std::span<std::byte> out) const {
  const std::size_t rank = extents_.size();
  std::vector<std::uint64_t> begin(rank);  // begin of the chunk in the block
  std::vector<std::uint64_t> count(rank);  // number of elements to copy
  for (std::size_t i = rank; i-- > 0;) {
    begin[i] = i == 0 ? 0 : chunk % grid_[i] * array().chunk[i];
    count[i] = i == 0 ? rows : std::min(array().chunk[i], extents_[i] - begin[i]);
    chunk /= grid_[i];
  }
  std::vector<std::uint64_t> at(rank, 0);  // the last one stays 0: its elements are copied as a run
  for (;;) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      if (values != nullptr) from += at[i] * strides[i];
      to = (i == 0 ? 0 : to * extents_[i]) + begin[i] + at[i];
    }
    const auto run = out.subspan(static_cast<std::size_t>(to) * element_bytes_,
                                 static_cast<std::size_t>(count[rank - 1]) * element_bytes_);
    if (values == nullptr)
      repeat_element(array().fill, run);
    else
      copy_spread(values + from * element_bytes_, strides[rank - 1] * element_bytes_,
                  static_cast<std::size_t>(count[rank - 1]), element_bytes_, run.data());
    std::size_t i = rank - 1;
    while (i > 0 && ++at[i - 1] == count[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

void zarr_blocks::prefetch(std::uint64_t block) const noexcept {
  const std::uint64_t first = block * chunks_per_block_;
  for (std::uint64_t chunk = first; chunk < first + chunks_per_block_; ++chunk)
    chunks_->will_need(chunk);
}

}  // namespace feedline::detail
