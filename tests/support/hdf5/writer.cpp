#include "support/hdf5/writer.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace feedline::test {
namespace {

/// Filter plugins that happen to be installed shall not change what a test sees. Set before main:
/// the library reads it once.
[[maybe_unused]] const int without_plugins = ::setenv("HDF5_PLUGIN_PRELOAD", "::", 1);

}  // namespace

void require_hdf5(bool succeeded, const std::string& what) {
  if (!succeeded) throw std::runtime_error{"HDF5 cannot " + what};
}

hdf5_writer::hdf5_writer(std::filesystem::path path, const file_options& options)
    : path_{std::move(path)} {
  const detail::hdf5_properties_id creation{H5Pcreate(H5P_FILE_CREATE)};
  const detail::hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
  require_hdf5(H5Pset_userblock(creation.get(), options.userblock) >= 0, "set a user block");
  require_hdf5(H5Pset_sizes(creation.get(), options.offset_bytes, options.length_bytes) >= 0,
               "set the sizes of addresses and lengths");
  if (options.in_pages)
    require_hdf5(
        H5Pset_file_space_strategy(creation.get(), H5F_FSPACE_STRATEGY_PAGE, false, 1) >= 0,
        "hand out space by pages");
  if (options.cache_image) {
    const H5AC_cache_image_config_t image{.version = H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION,
                                          .generate_image = true,
                                          .save_resize_status = false,
                                          .entry_ageout = H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
    require_hdf5(
        H5Pset_mdc_image_config(access.get(), const_cast<H5AC_cache_image_config_t*>(&image)) >= 0,
        "leave a cache image");
  }
  if (options.latest_format)
    require_hdf5(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0,
                 "choose the latest format");
  file_ =
      detail::hdf5_file_id{H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get())};
  require_hdf5(static_cast<bool>(file_), "create " + path_.string());
}

void hdf5_writer::make_group(const std::string& name) {
  const detail::hdf5_object_id group{
      H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
  require_hdf5(static_cast<bool>(group), "make group " + name);
}

void hdf5_writer::make_soft_link(const std::string& target, const std::string& name) {
  require_hdf5(
      H5Lcreate_soft(target.c_str(), file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0,
      "link " + name);
}

void hdf5_writer::make_external_link(const std::filesystem::path& file, const std::string& target,
                                     const std::string& name) {
  require_hdf5(H5Lcreate_external(file.c_str(), target.c_str(), file_.get(), name.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT) >= 0,
               "link " + name);
}

detail::hdf5_dataset_id hdf5_writer::make(const std::string& name, hid_t file_type,
                                          const extent_vector& extents, const hdf5_layout& layout) {
  const detail::hdf5_properties_id creation{H5Pcreate(H5P_DATASET_CREATE)};
  layout.apply(creation.get());
  require_hdf5(H5Eget_num(H5E_DEFAULT) <= 0, "lay out dataset " + name);
  const detail::hdf5_space_id space{
      extents.empty()
          ? H5Screate(H5S_SCALAR)
          : H5Screate_simple(static_cast<int>(extents.size()), extents.data(),
                             layout.max_extents.empty() ? nullptr : layout.max_extents.data())};
  detail::hdf5_dataset_id dataset{H5Dcreate2(file_.get(), name.c_str(), file_type, space.get(),
                                             H5P_DEFAULT, creation.get(), H5P_DEFAULT)};
  require_hdf5(static_cast<bool>(dataset), "make dataset " + name);
  return dataset;
}

void hdf5_writer::write(const std::string& name, hid_t file_type, const extent_vector& extents,
                        hid_t memory_type, const void* values, const hdf5_layout& layout) {
  const auto dataset = make(name, file_type, extents, layout);
  require_hdf5(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
               "write dataset " + name);
}

void hdf5_writer::write_rows(hid_t dataset, hsize_t first, hsize_t count, hid_t memory_type,
                             const void* values) {
  const detail::hdf5_space_id space{H5Dget_space(dataset)};
  extent_vector counts(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), counts.data(), nullptr);
  extent_vector start(counts.size(), 0);
  start[0] = first;
  counts[0] = count;
  const detail::hdf5_space_id memory{
      H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr)};
  require_hdf5(
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, counts.data(),
                          nullptr) >= 0 &&
          H5Dwrite(dataset, memory_type, memory.get(), space.get(), H5P_DEFAULT, values) >= 0,
      "write rows");
}

void hdf5_writer::write_chunk(hid_t dataset, const extent_vector& first,
                              std::span<const std::byte> stored, std::uint32_t filter_mask) {
  require_hdf5(H5Dwrite_chunk(dataset, H5P_DEFAULT, filter_mask, first.data(), stored.size(),
                              stored.data()) >= 0,
               "write a chunk");
}

std::filesystem::path hdf5_writer::close() {
  file_ = detail::hdf5_file_id{};
  return path_;
}

std::vector<std::byte> various_bytes(std::size_t bytes) {
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    values[i] = static_cast<std::byte>((i + 1) * 0x9E3779B97F4A7C15 >> 56);
  return values;
}

hdf5_layout chunked(std::string name, extent_vector chunk,
                    std::function<void(hid_t creation)> filters) {
  return {std::move(name),
          [chunk = std::move(chunk), filters = std::move(filters)](hid_t creation) {
            require_hdf5(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) >= 0,
                         "set chunks");
            filters(creation);
          }};
}

}  // namespace feedline::test
