#include "hdf5/rows/map_chunks.hpp"

#include <feedline/error.hpp>

#include "hdf5/library/chunk_lookup.hpp"
#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Files smaller than this are requested from the system as a whole before their chunks are looked
/// up, if they are not in memory.
constexpr std::uint64_t max_prefetched_bytes = std::uint64_t{1} << 30;
/// A map of up to this many chunks is made even if the file is smaller than the map.
constexpr std::uint64_t always_mapped_chunks = std::uint64_t{1} << 24;

/// Both lists are empty if there are no chunks.
struct shape {
  std::vector<std::uint64_t> extents = {};
  std::vector<std::uint64_t> chunk_extents = {};
};

shape shape_of(hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  const hdf5_space_id space{H5Dget_space(dataset)};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (rank < 1 || H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data()) != rank ||
      H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != rank)
    return {};
  return {.extents = {extents.begin(), extents.begin() + rank},
          .chunk_extents = {chunk.begin(), chunk.begin() + rank}};
}

std::string refusal_of(hid_t dataset, const byte_file& file, const shape& shape) {
  if (shape.extents.empty()) return "has no chunks to be mapped";
  if (is_being_written(dataset))
    return "this program has the file open for writing, so that its chunks may not be where the "
           "file says; close it there";
  if (std::ranges::count(shape.extents, 0U) > 0) return "has no elements";
  const auto chunks = hdf5_chunk_map::count(shape.extents, shape.chunk_extents);
  if (chunks && *chunks <= std::max(always_mapped_chunks, file.size() / sizeof(hdf5_chunk)))
    return {};
  return "has so many chunks (" + (chunks ? std::to_string(*chunks) : "more than can be counted") +
         ") that a map of them would be larger than the file";
}

bool leaves_partial_chunks_unfiltered(hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  unsigned options = 0;
  return H5Pget_nfilters(creation.get()) > 0 && H5Pget_chunk_opts(creation.get(), &options) >= 0 &&
         (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

void require_in_file(const hdf5_chunk& chunk, std::uint64_t number, const byte_file& file,
                     const std::string& name) {
  if (chunk.address <= file.size() && chunk.bytes <= file.size() - chunk.address) return;
  throw hdf5_error{{.path = file.name(), .field = name, .sample = {}, .offset = chunk.address},
                   "chunk " + std::to_string(number) + ", of " + std::to_string(chunk.bytes) +
                       " bytes, lies beyond the file's end at byte " + std::to_string(file.size()) +
                       "; the file is cut short or damaged: copy it again"};
}

}  // namespace

std::string hdf5_map_refusal(const hdf5_session& /*hdf5*/, hid_t dataset, const byte_file& file) {
  return refusal_of(dataset, file, shape_of(dataset));
}

hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset, const byte_file& file,
                               const std::string& name) {
  auto shape = shape_of(dataset);
  if (const auto refusal = refusal_of(dataset, file, shape); !refusal.empty())
    throw hdf5_error{{.path = file.name(), .field = name}, refusal};
  hdf5_chunk_map map{std::move(shape.extents), std::move(shape.chunk_extents)};
  if (file.size() < max_prefetched_bytes && file.is_cold()) file.will_need(0, file.size());

  const bool has_raw_edges = leaves_partial_chunks_unfiltered(dataset);
  hdf5_chunk_lookup lookup{hdf5, dataset, file, name};
  std::vector<std::uint64_t> first(map.grid().size());
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    map.first_element(number, first);
    hdf5_chunk chunk = lookup.find(hdf5, first);
    if (!chunk.is_written()) continue;
    require_in_file(chunk, number, file, name);
    // The file says that no filter of such chunks was left out.
    if (has_raw_edges && map.is_partial(number)) chunk.filter_mask = ~std::uint32_t{0};
    map[number] = chunk;
  }
  file.require_unchanged();
  return map;
}

}  // namespace feedline::detail
