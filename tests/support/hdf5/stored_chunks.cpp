#include "support/hdf5/stored_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace feedline::test {

namespace {

std::vector<detail::hdf5_filter> pipeline_of(hid_t creation) {
  std::vector<detail::hdf5_filter> pipeline;
  const int count = H5Pget_nfilters(creation);
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    std::array<unsigned, 32> values{};
    std::array<char, 100> name{};
    std::size_t value_count = values.size();
    unsigned flags = 0;
    unsigned config = 0;
    const H5Z_filter_t id = H5Pget_filter2(creation, i, &flags, &value_count, values.data(),
                                           name.size(), name.data(), &config);
    require_hdf5(id >= 0, "tell a filter");
    pipeline.push_back({id, name.data(), {values.begin(), values.begin() + value_count}});
  }
  return pipeline;
}

/// Moves to the next position in row-major order, in steps; false after the last.
bool advance(extent_vector& at, const extent_vector& end, const extent_vector& step) {
  for (std::size_t i = at.size(); i-- > 0;) {
    at[i] += step[i];
    if (at[i] < end[i]) return true;
    at[i] = 0;
  }
  return false;
}

bytes read_chunk(hid_t dataset, const extent_vector& offset, hsize_t size, std::uint32_t& mask) {
  bytes stored(size);
#if H5_VERSION_GE(2, 0, 0)
  const herr_t result = H5Dread_chunk1(dataset, H5P_DEFAULT, offset.data(), &mask, stored.data());
#else
  const herr_t result = H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &mask, stored.data());
#endif
  require_hdf5(result >= 0, "read a chunk");
  return stored;
}

}  // namespace

stored_dataset read_stored(hid_t dataset) {
  const detail::hdf5_space_id space{H5Dget_space(dataset)};
  const detail::hdf5_type_id type{H5Dget_type(dataset)};
  const detail::hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  stored_dataset read;
  const int rank = H5Sget_simple_extent_ndims(space.get());
  require_hdf5(rank > 0, "tell a rank");
  read.extents.resize(static_cast<std::size_t>(rank));
  read.chunk.resize(read.extents.size());
  H5Sget_simple_extent_dims(space.get(), read.extents.data(), nullptr);
  require_hdf5(H5Pget_chunk(creation.get(), rank, read.chunk.data()) == rank, "tell its chunks");
  read.element = H5Tget_size(type.get());
  read.pipeline = pipeline_of(creation.get());

  extent_vector offset(read.extents.size(), 0);
  do {
    hsize_t size = 0;
    const bool is_there =
        H5Dget_chunk_storage_size(dataset, offset.data(), &size) >= 0 && size != 0;
    if (!is_there) continue;
    std::uint32_t mask = 0;
    bytes stored = read_chunk(dataset, offset, size, mask);
    read.chunks.push_back({offset, mask, std::move(stored)});
  } while (advance(offset, read.extents, read.chunk));
  return read;
}

bytes decode_all(const stored_dataset& dataset) {
  const detail::hdf5_filters filters{dataset.pipeline};
  detail::hdf5_decoder decoder;
  std::size_t elements = 1;
  std::size_t chunk_elements = 1;
  for (const hsize_t extent : dataset.extents) elements *= extent;
  for (const hsize_t extent : dataset.chunk) chunk_elements *= extent;
  bytes all(elements * dataset.element);
  bytes decoded(chunk_elements * dataset.element);
  const extent_vector one(dataset.extents.size(), 1);
  for (const stored_chunk& chunk : dataset.chunks) {
    filters.decode(chunk.stored, chunk.mask, true, decoder, decoded);
    extent_vector at(dataset.extents.size(), 0);
    std::size_t from = 0;
    do {
      std::size_t to = 0;
      bool is_within = true;
      for (std::size_t i = 0; i < at.size(); ++i) {
        to = to * dataset.extents[i] + chunk.offset[i] + at[i];
        is_within = is_within && chunk.offset[i] + at[i] < dataset.extents[i];
      }
      if (is_within)
        std::memcpy(all.data() + to * dataset.element, decoded.data() + from * dataset.element,
                    dataset.element);
      ++from;
    } while (advance(at, dataset.chunk, one));
  }
  return all;
}

std::vector<std::string> filtered_datasets(hid_t file) {
  std::vector<std::string> names;
  const auto visit = [](hid_t group, const char* name, const H5L_info_t*, void* to) -> herr_t {
    const detail::hdf5_object_id object{H5Oopen(group, name, H5P_DEFAULT)};
    if (!object || H5Iget_type(object.get()) != H5I_DATASET) return 0;
    const detail::hdf5_properties_id creation{H5Dget_create_plist(object.get())};
    if (H5Pget_layout(creation.get()) == H5D_CHUNKED && H5Pget_nfilters(creation.get()) > 0)
      static_cast<std::vector<std::string>*>(to)->push_back(name);
    return 0;
  };
  require_hdf5(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names) >= 0, "visit a file");
  return names;
}

}  // namespace feedline::test
