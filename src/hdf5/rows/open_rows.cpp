#include "hdf5/rows/open_rows.hpp"

#include "detail/arithmetic.hpp"
#include "hdf5/attributes/dimensions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/rows/blocks.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "hdf5/rows/plain_rows.hpp"
#include "rows/decoded/cached_rows.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace feedline::detail {
namespace {

using layout = hdf5_storage_layout::layout;

/// A cache has at least this many bytes for each block that it lists, so that the list takes at
/// most a sixteenth of them.
constexpr std::uint64_t bytes_per_listed_block = 64;

/// Whether rows cross so many chunks that these must not be cached together.
bool are_tiled(const hdf5_resolved_field& found, std::size_t cache_bytes) {
  const auto& chunk = found.storage.chunk;
  bool splits_rows = false;
  for (std::size_t i = 1; i < chunk.size(); ++i)
    splits_rows = splits_rows || chunk[i] != found.spec.shape[i - 1];
  return splits_rows && are_cached_as_tiles(chunk.front(), found.block_bytes(), cache_bytes);
}

std::unique_ptr<const field_rows> make_rows(std::unique_ptr<const decoded_blocks> blocks,
                                            const hdf5_resolved_field& found,
                                            std::size_t cache_bytes) {
  auto all =
      cached_extent(found.extent(), found.storage.chunk.front(), found.block_bytes(), cache_bytes);
  if (!all) return std::make_unique<const single_rows>(found.extent(), std::move(blocks));
  if (!found.shared_decoder)
    return std::make_unique<const cached_rows>(std::move(*all), std::move(blocks));
  // Only feedline's own chunks are shared.
  std::unique_ptr<const hdf5_chunk_blocks> own{
      static_cast<const hdf5_chunk_blocks*>(blocks.release())};
  return std::make_unique<const hdf5_member_rows>(std::move(*all), std::move(own),
                                                  found.shared_decoder);
}

/// A tiny file may claim rows of any size; one larger than the machine's memory could never be
/// read.
void require_row_fits(const hdf5_file& file, const hdf5_resolved_field& found) {
  if (found.row_bytes <= machine_memory_bytes()) return;
  throw file.error(found.name, "a sample (" + to_string(found.spec) + ") takes " +
                                   std::to_string(found.row_bytes) + " bytes, more than the " +
                                   std::to_string(machine_memory_bytes()) +
                                   " of this machine's memory");
}

/// The library assumes that a chunk without filters is complete, and reads past its end if it is
/// not.
void require_whole_chunks(const hdf5_session& hdf5, const hdf5_library_dataset& column,
                          const hdf5_resolved_field& found) {
  const hdf5_storage_layout& storage = found.storage;
  const byte_file_ptr file = hdf5_driver::file_of(hdf5, column.id());
  if (!file || !hdf5_map_refusal(hdf5, column.id(), *file).empty()) return;
  const auto map = map_hdf5_chunks(hdf5, column.id(), *file, found.name);
  std::uint64_t whole = storage.stored_bytes;
  for (const std::uint64_t extent : storage.chunk)
    whole = checked_multiply(whole, extent).value_or(std::numeric_limits<std::uint64_t>::max());
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    const hdf5_chunk& chunk = map[number];
    if (!chunk.is_written() || !storage.filters.skips_all(chunk.filter_mask) ||
        chunk.bytes >= whole)
      continue;
    throw hdf5_error{
        {.path = file->name(), .field = found.name, .sample = {}, .offset = chunk.address},
        "chunk " + std::to_string(number) + " has " + std::to_string(chunk.bytes) +
            " bytes and went through no filter, but should have " + std::to_string(whole) +
            " bytes; the file is damaged: copy it again"};
  }
}

/// Opens a dataset, unless an earlier field was a member of the same one.
hdf5_library_dataset open_column(const hdf5_session& hdf5, const hdf5_file& file,
                                 hdf5_open_context& common, const hdf5_field& chosen) {
  const std::string& path = chosen.dataset;
  for (std::size_t end = path.size(); end != std::string::npos && end > 0;
       end = path.find_last_of('/', end - 1))
    if (const auto known = common.opened.find(path.substr(0, end)); known != common.opened.end())
      return {hdf5, file, chosen, known->second, path.substr(std::min(end + 1, path.size()))};
  std::string member;
  auto opened = make_opened(hdf5, file, file.open_dataset(hdf5, path, &member));
  const std::size_t own = member.empty() ? path.size() : path.size() - member.size() - 1;
  common.opened.emplace(path.substr(0, own), opened);
  return {hdf5, file, chosen, std::move(opened), member};
}

}  // namespace

std::size_t hdf5_resolved_field::block_bytes() const {
  if (storage.stored != layout::chunked || row_chunks) return 0;
  return checked_multiply<std::size_t>(storage.chunk.front(), row_bytes)
      .value_or(std::numeric_limits<std::size_t>::max());
}

std::size_t cache_bytes_of(const hdf5_options& options) noexcept {
  return options.max_host_cache_bytes != 0 ? options.max_host_cache_bytes
                                           : machine_memory_bytes() / 4;
}

void find_file_and_chunks(const hdf5_session& hdf5, hid_t dataset, hdf5_open_context& common,
                          hdf5_resolved_field& found) {
  hdf5_storage_layout& storage = found.storage;
  if (!storage.refusal.empty() || storage.stored == layout::unwritten) return;
  byte_file_ptr file = hdf5_driver::file_of(hdf5, dataset);
  if (storage.stored == layout::chunked) storage.refusal = hdf5_map_refusal(hdf5, dataset, *file);
  if (!storage.refusal.empty()) return;
  found.file = std::move(file);
  if (storage.stored != layout::chunked) return;
  const auto object = describe_object(hdf5, dataset, ".");
  if (!object)
    throw hdf5_error{
        {.path = found.file->name(), .field = found.name},
        "the HDF5 library does not tell where it is in the file: " + hdf5.last_message()};
  auto& known = common.datasets[{found.file, object->key}];
  if (!known.chunks) {
    known.chunks = std::make_shared<const hdf5_chunk_map>(
        map_hdf5_chunks(hdf5, dataset, *found.file, found.name));
    known.members = std::make_shared<hdf5_shared_chunk_decoder>();
  }
  if (has_row_chunks(storage, known.chunks->extents())) {
    if (!known.row_chunks)
      known.row_chunks = find_row_chunks(*found.file, found.name, storage, *known.chunks);
    found.row_chunks = known.row_chunks;
  }
  found.chunks = known.chunks;
  if (found.row_chunks) return;
  if (storage.is_spread()) found.shared_decoder = known.members;
}

hdf5_resolved_field find_field(const hdf5_session& hdf5, const hdf5_file& file,
                               hdf5_open_context& common, const hdf5_field& chosen) {
  auto column = open_column(hdf5, file, common, chosen);
  if (common.conventions == value_conventions::refuse) {
    if (is_netcdf_dimension(hdf5, column.id()))
      throw file.error(column.name(), netcdf_dimension_refusal);
    if (const auto why = column.convention(hdf5); !why.empty())
      throw file.error(column.name(), why);
  }
  hdf5_resolved_field found{.name = column.name(),
                            .spec = column.spec(),
                            .samples = column.samples(),
                            .row_bytes = column.row_bytes(),
                            .is_single = column.is_single(),
                            .storage = column.storage(hdf5, file)};
  require_row_fits(file, found);
  if (found.samples == 0) {  // there is nothing to find
    found.storage.refusal.clear();
    found.storage.stored = layout::unwritten;
    return found;
  }
  find_file_and_chunks(hdf5, column.id(), common, found);
  if (!found.storage.refusal.empty()) {
    column.require_readable(hdf5, file);
    // If filters are the only reason, the file's own chunks can be checked.
    if (found.storage.refusal == found.storage.filters.refusal())
      require_whole_chunks(hdf5, column, found);
    found.column.reset(new hdf5_library_dataset{std::move(column)});
  }
  return found;
}

std::unique_ptr<const field_rows> open_rows(hdf5_resolved_field& found, std::size_t cache_bytes) {
  const hdf5_storage_layout& storage = found.storage;
  const std::size_t block_bytes = found.block_bytes();
  if (found.column) {
    hdf5_library_column column = std::move(found.column);
    // If a cache can hold only a few such large blocks, decoding whole blocks is wasted; if there
    // are too many blocks, the list alone would take the memory.
    if (block_bytes == 0 || block_bytes > cache_bytes / least_cached_blocks ||
        storage.chunk.front() == 1 ||
        found.samples / storage.chunk.front() > cache_bytes / bytes_per_listed_block ||
        are_tiled(found, cache_bytes))
      return std::make_unique<hdf5_library_rows>(found.extent(), std::move(column));
    return make_rows(
        std::make_unique<const hdf5_library_blocks>(std::move(column), storage.chunk.front()),
        found, cache_bytes);
  }
  if (storage.stored == layout::unwritten)
    return std::make_unique<hdf5_unwritten_rows>(found.extent(), storage.fill);
  if (storage.stored == layout::contiguous || found.row_chunks)
    return std::make_unique<hdf5_file_rows>(found.file, found.name, storage,
                                            found.row_bytes / storage.element_bytes, found.samples,
                                            found.row_chunks);
  const auto make_blocks = [&](bool tiles) {
    return std::make_unique<const hdf5_chunk_blocks>(found.file, found.name, storage, found.chunks,
                                                     tiles);
  };
  auto blocks = make_blocks(false);
  if (!are_tiled(found, cache_bytes)) return make_rows(std::move(blocks), found, cache_bytes);
  const std::uint64_t max_cached = block_cache::max_blocks_within(cache_bytes, found.chunks->size(),
                                                                  blocks->chunk_value_bytes());
  return make_tiled_rows(found.extent(), std::move(blocks), make_blocks(true),
                         std::max(max_cached, least_cached_blocks));
}

}  // namespace feedline::detail
