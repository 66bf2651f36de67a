#include "hdf5/rows/chunk_rows.hpp"

#include "detail/byte_order.hpp"
#include "rows/copy_row.hpp"
#include "rows/gather_scattered.hpp"
#include "rows/read_spread.hpp"
#include "rows/repeat_element.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace feedline::detail {

bool hdf5_chunk_rows::serves(const hdf5_storage_layout& place,
                             std::span<const std::uint64_t> extents) {
  if (!place.filters.empty() || (place.is_spread() && extents.size() > 1)) return false;
  for (std::size_t i = 1; i < extents.size(); ++i)
    if (place.chunk[i] != extents[i]) return false;
  return true;
}

hdf5_chunk_rows::hdf5_chunk_rows(random_file_ptr file, std::string name,
                                 const hdf5_storage_layout& place,
                                 std::shared_ptr<const hdf5_chunk_map> map)
    : file_{std::move(file)},
      name_{std::move(name)},
      map_{std::move(map)},
      place_{map_->extents()[0], place.chunk.front()},
      row_bytes_{place.element_bytes},
      stride_{place.stored_bytes},
      offset_{place.stored_offset},
      swapped_bytes_{place.swapped_bytes},
      fill_{place.fill} {
  for (const std::uint64_t extent : map_->extents().subspan(1)) {
    row_bytes_ *= extent;
    stride_ *= extent;
  }
  const std::uint64_t rows_per_chunk = place.chunk.front();
  for (std::uint64_t chunk = 0; chunk < map_->size(); ++chunk) {
    const hdf5_chunk& stored = (*map_)[chunk];
    if (!stored.is_written() || stored.bytes == rows_per_chunk * stride_) continue;
    throw hdf5_error{{.path = file_->path(),
                      .field = name_,
                      .sample = chunk * rows_per_chunk,
                      .offset = stored.address},
                     "chunk " + std::to_string(chunk) + " has " + std::to_string(stored.bytes) +
                         " bytes, but " + std::to_string(rows_per_chunk) + " rows of " +
                         std::to_string(stride_) + " bytes have " +
                         std::to_string(rows_per_chunk * stride_) +
                         "; the file is damaged, get it anew"};
  }
  reverse_elements(fill_, swapped_bytes_);
  if (row_bytes_ > largest_prefetched_row_bytes) return;
  unwritten_row_.resize(row_bytes_);
  repeat_element(fill_, unwritten_row_);
}

std::uint64_t hdf5_chunk_rows::address_of(sample_index sample) const noexcept {
  const std::uint64_t number = place_.block_of(sample.value);
  const hdf5_chunk& chunk = (*map_)[number];
  return chunk.is_written()
             ? chunk.address + place_.place_in(number, sample.value) * stride_ + offset_
             : hdf5_chunk::nowhere;
}

void hdf5_chunk_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  if (const auto file = file_->mapped(); file.empty())
    read_by_calls(samples, out);
  else if (row_bytes_ > largest_prefetched_row_bytes)
    read_long_rows(samples, file, out);
  else
    read_mapped(samples, file, out);
  reverse_elements({out, samples.size() * row_bytes_}, swapped_bytes_);
}

/// How many of the samples, from the first on, follow one another within a chunk.
std::size_t hdf5_chunk_rows::consecutive(std::span<const sample_index> samples) const noexcept {
  const std::uint64_t chunk = place_.block_of(samples[0].value);
  const std::uint64_t left = place_.rows_per_block() - place_.place_in(chunk, samples[0].value);
  const std::size_t most = static_cast<std::size_t>(
      std::min<std::uint64_t>({left, samples.size(), rows_per_read(stride_, row_bytes_)}));
  std::size_t count = 1;
  while (count < most && samples[count].value == samples[0].value + count) ++count;
  return count;
}

void hdf5_chunk_rows::read_by_calls(std::span<const sample_index> samples, std::byte* out) const {
  while (!samples.empty()) {
    const std::uint64_t address = address_of(samples[0]);
    const std::size_t count = consecutive(samples);
    const std::span<std::byte> into{out, count * row_bytes_};
    if (address == hdf5_chunk::nowhere) {
      repeat_element(fill_, into);
    } else {
      try {
        read_spread(*file_, address, stride_, row_bytes_, into);
      } catch (const dataset_error& failure) {
        dataset_location where = failure.where();
        where.field = name_;
        // What is lost may begin between two rows.
        const std::uint64_t beyond = where.offset.value_or(address) - address;
        where.sample = samples[0].value + (beyond + stride_ - row_bytes_) / stride_;
        throw hdf5_error{std::move(where), failure.message()};
      }
    }
    out += into.size();
    samples = samples.subspan(count);
  }
}

void hdf5_chunk_rows::read_mapped(std::span<const sample_index> samples,
                                  std::span<const std::byte> file, std::byte* out) const {
  std::array<const std::byte*, 128> rows;
  while (!samples.empty()) {
    const std::size_t count = std::min(rows.size(), samples.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t address = address_of(samples[i]);
      rows[i] = address == hdf5_chunk::nowhere ? unwritten_row_.data() : file.data() + address;
    }
    gather_scattered(std::span{rows}.first(count), row_bytes_, out);
    out += count * row_bytes_;
    samples = samples.subspan(count);
  }
}

/// Rows that need not be asked for beforehand: one after the other, as `gather_scattered` would.
void hdf5_chunk_rows::read_long_rows(std::span<const sample_index> samples,
                                     std::span<const std::byte> file, std::byte* out) const {
  for (const sample_index sample : samples) {
    const std::uint64_t address = address_of(sample);
    if (address == hdf5_chunk::nowhere)
      repeat_element(fill_, {out, row_bytes_});
    else
      copy_row(out, file.data() + address, row_bytes_);
    out += row_bytes_;
  }
}

void hdf5_chunk_rows::prefetch(std::span<const sample_index> samples) const noexcept {
  for (const sample_index sample : samples)
    if (sample.value < map_->extents()[0])
      if (const std::uint64_t address = address_of(sample); address != hdf5_chunk::nowhere)
        file_->will_need(address, row_bytes_);
}

}  // namespace feedline::detail
