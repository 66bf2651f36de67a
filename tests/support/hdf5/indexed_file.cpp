#include "support/hdf5/indexed_file.hpp"

#include <algorithm>
#include <utility>

namespace feedline::test {
namespace {

/// Number of the dataset's chunks along each dimension.
extent_vector grid_of(const indexed_dataset& dataset) {
  extent_vector grid;
  for (std::size_t d = 0; d < dataset.extents.size(); ++d)
    grid.push_back((dataset.extents[d] + dataset.chunk[d] - 1) / dataset.chunk[d]);
  return grid;
}

void write_chunk(hdf5_writer& writer, hid_t dataset, const indexed_dataset& like,
                 const extent_vector& grid, std::uint64_t number) {
  extent_vector first(grid.size());
  std::uint64_t rest = number;
  for (std::size_t d = grid.size(); d-- > 0; rest /= grid[d])
    first[d] = rest % grid[d] * like.chunk[d];
  writer.write_chunk(dataset, first, like.stored(number), like.filter_mask(number));
}

}  // namespace

std::size_t indexed_dataset::chunk_bytes() const {
  std::size_t bytes = 1;
  for (const hsize_t extent : chunk) bytes *= extent;
  return bytes;
}

std::vector<std::byte> indexed_dataset::stored(std::uint64_t number) const {
  const std::size_t size = chunk_bytes() + (is_filtered ? number % 7 : 0);
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((number + 1) * 0x9E3779B97F4A7C15 >> 8 * (i % 8));
  return bytes;
}

std::uint32_t indexed_dataset::filter_mask(std::uint64_t number) const {
  return is_filtered ? static_cast<std::uint32_t>(number % 3) : 0;
}

detail::hdf5_dataset_id write_indexed(hdf5_writer& writer, const indexed_dataset& dataset) {
  auto layout = chunked(dataset.name, dataset.chunk, [&](hid_t creation) {
    if (dataset.is_filtered) {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 1);
    }
    if (dataset.allocates_early) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    if (dataset.options != 0) H5Pset_chunk_opts(creation, dataset.options);
  });
  layout.max_extents = dataset.max_extents;
  auto made = writer.make(indexed_name, H5T_NATIVE_UINT8, dataset.extents, layout);
  const auto grid = grid_of(dataset);
  std::uint64_t chunks = 1;
  for (const hsize_t along : grid) chunks *= along;
  for (std::uint64_t number = 0; number < chunks; ++number)
    if (dataset.writes(number)) write_chunk(writer, made.get(), dataset, grid, number);
  return made;
}

std::filesystem::path write_indexed_file(const std::filesystem::path& path,
                                         const indexed_dataset& dataset,
                                         hdf5_writer::file_options options) {
  options.latest_format = dataset.latest_format;
  hdf5_writer writer{path, options};
  (void)write_indexed(writer, dataset);
  return writer.close();
}

std::vector<indexed_dataset> datasets_of_every_index(std::uint64_t chunks) {
  constexpr hsize_t open = indexed_dataset::unlimited;
  const hsize_t rows = 2 * chunks;
  const hsize_t planes = std::max<hsize_t>(1, chunks / 12);
  const extent_vector line{rows, 3};
  const extent_vector line_chunk{2, 3};
  const extent_vector cube{planes * 2 - (planes > 1 ? 1 : 0), 8,
                           8};              // the last plane of chunks is cut
  const extent_vector cube_chunk{2, 2, 3};  // like each row
  std::vector<indexed_dataset> all{
      {.name = "tree 1", .extents = line, .chunk = line_chunk, .latest_format = false},
      {.name = "tree 1, 3-d", .extents = cube, .chunk = cube_chunk, .latest_format = false},
      {.name = "fixed array", .extents = line, .chunk = line_chunk},
      {.name = "fixed array, 3-d", .extents = cube, .chunk = cube_chunk},
      {.name = "fixed array that has room",
       .extents = cube,
       .chunk = cube_chunk,
       .max_extents = {cube[0] + 5, 11, 20}},
      {.name = "extensible array", .extents = line, .chunk = line_chunk, .max_extents = {open, 3}},
      {.name = "extensible array, 3-d, unlimited in the middle",
       .extents = {8, cube[0], 8},
       .chunk = {2, 2, 3},
       .max_extents = {10, open, 13}},
      {.name = "tree 2", .extents = line, .chunk = line_chunk, .max_extents = {open, open}},
      {.name = "tree 2, 3-d",
       .extents = cube,
       .chunk = cube_chunk,
       .max_extents = {open, 16, open}},
  };
  const auto unfiltered = all;
  for (auto dataset : unfiltered) {
    dataset.name += ", filtered";
    dataset.is_filtered = true;
    all.push_back(dataset);
  }
  all.push_back(
      {.name = "implicit", .extents = cube, .chunk = cube_chunk, .allocates_early = true});
  all.push_back({.name = "implicit that has room",
                 .extents = cube,
                 .chunk = cube_chunk,
                 .max_extents = {cube[0] + 2, 11, 9},
                 .allocates_early = true});
  return all;
}

}  // namespace feedline::test
