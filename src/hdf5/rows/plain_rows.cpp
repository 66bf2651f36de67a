#include "hdf5/rows/plain_rows.hpp"

#include <feedline/error.hpp>

#include <algorithm>

namespace feedline::detail {

bool has_row_chunks(const hdf5_storage_layout& place, std::span<const std::uint64_t> extents) {
  return place.filters.empty() && !(place.is_spread() && extents.size() > 1) &&
         std::ranges::equal(std::span{place.chunk}.subspan(1), extents.subspan(1));
}

hdf5_row_chunks find_row_chunks(const byte_file& file, const std::string& name,
                                const hdf5_storage_layout& place, const hdf5_chunk_map& map) {
  std::vector<std::uint64_t> begins(map.size());
  const std::uint64_t rows = place.chunk.front();
  std::size_t row_bytes = place.stored_bytes;
  for (const std::uint64_t extent : map.extents().subspan(1)) row_bytes *= extent;
  for (std::uint64_t chunk = 0; chunk < map.size(); ++chunk) {
    const hdf5_chunk& stored = map[chunk];
    begins[chunk] = stored.is_written() ? stored.address : row_blocks::nowhere;
    if (!stored.is_written() || stored.bytes == rows * row_bytes) continue;
    throw hdf5_error{
        {.path = file.name(), .field = name, .sample = chunk * rows, .offset = stored.address},
        "chunk " + std::to_string(chunk) + " has " + std::to_string(stored.bytes) + " bytes, but " +
            std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " bytes have " +
            std::to_string(rows * row_bytes) + "; the file is damaged, get it again"};
  }
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(begins));
}

// Errors of files do not mention HDF5, so they are rethrown.
hdf5_file_rows::hdf5_file_rows(byte_file_ptr file, std::string name,
                               const hdf5_storage_layout& place, std::size_t elements,
                               std::uint64_t rows, hdf5_row_chunks chunks) try
    : file_rows{std::move(file), std::move(name),
                {.offset = chunks ? place.stored_offset : place.offset,
                 .stride = (place.is_spread() ? 1 : elements) * place.stored_bytes,
                 .row_bytes = elements * place.element_bytes,
                 .swapped_bytes = place.swapped_bytes,
                 .parts = place.is_spread() ? elements : 1},
                rows, {
  .begins = chunks, .rows_per_block = chunks ? place.chunk.front() : 1, .fill = place.fill
}
}  // namespace feedline::detail
{}
catch (const dataset_error& failure) {
  throw hdf5_error{failure.where(), failure.message()};
}

void hdf5_file_rows::read(std::span<const sample_index> samples, std::byte* out) const try {
  file_rows::read(samples, out);
} catch (const dataset_error& failure) {
  throw hdf5_error{failure.where(), failure.message()};
}

}  // namespace feedline::detail
