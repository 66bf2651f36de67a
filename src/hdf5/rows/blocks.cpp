#include "hdf5/rows/blocks.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace feedline::detail {
namespace {

std::uint64_t product(std::span<const std::uint64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>{});
}

std::vector<std::uint64_t> copy_of(std::span<const std::uint64_t> extents) {
  return {extents.begin(), extents.end()};
}

/// HDF5 itself counts a chunk's bytes in 32 bits.
std::size_t bytes_of_chunk(std::span<const std::uint64_t> chunk, std::size_t element_bytes) {
  std::size_t bytes = element_bytes;
  for (const std::uint64_t extent : chunk)
    bytes = checked_multiply<std::size_t>(bytes, extent).value_or(0);
  return bytes <= std::numeric_limits<std::uint32_t>::max() ? bytes : 0;
}

}  // namespace

hdf5_chunk_blocks::hdf5_chunk_blocks(byte_file_ptr file, std::string name,
                                     hdf5_storage_layout place,
                                     std::shared_ptr<const hdf5_chunk_map> map, bool tiles)
    : file_{std::move(file)},
      name_{std::move(name)},
      place_{std::move(place)},
      stored_fill_{place_.fill},
      map_{std::move(map)},
      extents_{tiles ? place_.chunk : copy_of(map_->extents())},
      grid_{tiles ? std::vector<std::uint64_t>(extents_.size(), 1) : copy_of(map_->grid())},
      whole_rows_{!place_.is_spread()} {
  reverse_elements(stored_fill_, place_.swapped_bytes);
  chunks_per_block_ = product(std::span{grid_}.subspan(1));
  chunk_bytes_ = bytes_of_chunk(place_.chunk, place_.stored_bytes);
  if (chunk_bytes_ == 0)
    throw hdf5_error{{.path = file_->name(), .field = name_},
                     "its chunks are of 0 bytes, or of more than 4 GiB"};
  for (std::size_t i = 1; i < place_.chunk.size(); ++i)
    whole_rows_ = whole_rows_ && place_.chunk[i] == extents_[i];
  if (place_.filters.has_checksum())
    verified_ = std::vector<std::atomic<std::uint64_t>>(divide_up(map_->size(), std::uint64_t{64}));
}

std::string hdf5_chunk_blocks::name_of(std::uint64_t chunk) const {
  const hdf5_chunk& stored = (*map_)[chunk];
  return "chunk " + std::to_string(chunk) + " (" + std::to_string(stored.bytes) +
         " bytes at byte " + std::to_string(stored.address) + ")";
}

void hdf5_chunk_blocks::read(std::uint64_t block, std::span<const part> parts) const {
  const auto with = scratch_.take();
  const std::uint64_t first = block * chunks_per_block_;
  try {
    for (std::uint64_t chunk = first; chunk < first + chunks_per_block_; ++chunk) {
      if (!(*map_)[chunk].is_written()) {
        for (const part& each : parts) each.blocks->put_fill(chunk, each.out);
      } else if (whole_rows_) {
        decode(chunk, *with, parts.front().out);
      } else {
        with->chunk.resize(chunk_bytes_);
        decode(chunk, *with, with->chunk);
        for (const part& each : parts) each.blocks->put_values(chunk, with->chunk.data(), each.out);
      }
    }
  } catch (const dataset_error& failure) {
    throw name_failure(failure, block);
  }
  for (const part& each : parts) reverse_elements(each.out, each.blocks->place_.swapped_bytes);
}

hdf5_error hdf5_chunk_blocks::name_failure(const dataset_error& failure,
                                           std::uint64_t block) const {
  dataset_location where = failure.where();
  where.field = name_;
  where.sample = block * rows_per_block();
  return {std::move(where), failure.message()};
}

void hdf5_chunk_blocks::decode(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const {
  const hdf5_chunk& place = (*map_)[chunk];
  auto stored = file_->mapped();
  if (stored.empty()) {
    with.stored.resize(place.bytes);
    file_->read(place.address, with.stored);
    stored = with.stored;
  } else {
    stored = stored.subspan(place.address, place.bytes);
  }
  const std::uint64_t bit = std::uint64_t{1} << chunk % 64;
  const bool verify =
      !verified_.empty() && (verified_[chunk / 64].load(std::memory_order_relaxed) & bit) == 0;
  try {
    place_.filters.decode(stored, place.filter_mask, verify, with.decoder, out);
  } catch (const hdf5_filter_error& failure) {
    file_->require_unchanged();  // a change is the better reason
    throw hdf5_error{{.path = file_->name(), .field = name_, .sample = {}, .offset = place.address},
                     "cannot be read: " + name_of(chunk) + " does not decode: " + failure.what()};
  }
  if (verify) verified_[chunk / 64].fetch_or(bit, std::memory_order_relaxed);
}

void hdf5_chunk_blocks::read_stored(std::uint64_t block, std::span<std::byte> out) const try {
  const std::uint64_t address = (*map_)[block].address;
  if (const auto mapped = file_->mapped(); mapped.empty())
    file_->read(address, out);
  else
    std::memcpy(out.data(), mapped.subspan(address, out.size()).data(), out.size());
  file_->require_unchanged();
} catch (const dataset_error& failure) {
  throw name_failure(failure, block);
}

void hdf5_chunk_blocks::decode_stored(std::span<const std::byte> stored, std::uint32_t mask,
                                      std::span<std::byte> out) const try {
  place_.filters.decode(stored, mask, true, scratch_.take()->decoder, out);
} catch (const hdf5_filter_error& failure) {
  throw hdf5_error{{.path = file_->name(), .field = name_},
                   "cannot be read: a chunk of " + std::to_string(stored.size()) +
                       " bytes does not decode: " + failure.what()};
}

/// Copies the part of a chunk's first rows that is inside the dataset to its position in whole
/// rows.
/// @param values Elements, `stride` bytes apart. Null: `fill` is repeated instead.
void hdf5_chunk_blocks::put(std::uint64_t chunk, std::uint64_t rows, const std::byte* values,
                            std::size_t stride, std::span<const std::byte> fill,
                            std::span<std::byte> out) const {
  const std::size_t rank = extents_.size();
  std::vector<std::uint64_t> begin(rank);  // begin of the chunk in the block
  std::vector<std::uint64_t> count(rank);  // number of elements to copy
  for (std::size_t i = rank; i-- > 0;) {
    begin[i] = i == 0 ? 0 : chunk % grid_[i] * place_.chunk[i];
    count[i] = i == 0 ? rows : std::min(place_.chunk[i], extents_[i] - begin[i]);
    chunk /= grid_[i];
  }
  std::vector<std::uint64_t> at(rank, 0);  // the last one stays 0: its elements are copied as a run
  for (;;) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      from = from * place_.chunk[i] + at[i];
      to = (i == 0 ? 0 : to * extents_[i]) + begin[i] + at[i];
    }
    if (values == nullptr)
      repeat_element(
          fill, out.subspan(to * place_.element_bytes, count[rank - 1] * place_.element_bytes));
    else
      copy_spread(values + from * stride, stride, count[rank - 1], place_.element_bytes,
                  out.data() + to * place_.element_bytes);
    std::size_t i = rank - 1;
    while (i > 0 && ++at[i - 1] == count[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

void hdf5_chunk_blocks::prefetch(std::uint64_t block) const noexcept {
  const std::uint64_t first = block * chunks_per_block_;
  for (std::uint64_t chunk = first; chunk < first + chunks_per_block_; ++chunk)
    if (const hdf5_chunk& stored = (*map_)[chunk]; stored.is_written())
      file_->will_need(stored.address, stored.bytes);
}

}  // namespace feedline::detail
