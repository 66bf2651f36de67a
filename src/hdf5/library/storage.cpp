#include "hdf5/library/storage.hpp"

#include <system_error>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <type_traits>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

void require_filters(const hdf5_file& file, const std::string& name, hid_t creation) {
  for (const hdf5_filter& filter : filters_of(creation)) {
    if (H5Zfilter_avail(filter.id) > 0) continue;
    std::string text = "is stored through filter " + std::to_string(filter.id);
    if (!filter.name.empty()) text += " (" + filter.name + ")";
    throw file.error(name, text +
                               ", which is not installed: install its plugin for HDF5, and set "
                               "HDF5_PLUGIN_PATH to the plugin's folder if it is not the default");
  }
}

/// @param get Is given room and its size; returns the text's length.
template <class Get>
std::string text_of(Get get) {
  const ssize_t length = get(nullptr, std::size_t{0});
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(text.data(), text.size());
  text.pop_back();
  return text;
}

fs::path folder_of(const hdf5_session& hdf5, hid_t dataset) {
  return path_of_file(hdf5, dataset).parent_path();
}

/// External layout: the values lie one after the other in parts of raw files.
void require_raw_files(const hdf5_session& hdf5, const hdf5_file& file, const std::string& name,
                       hid_t dataset, hid_t creation) {
  const int count = H5Pget_external_count(creation);
  if (count <= 0 || std::getenv("HDF5_EXTFILE_PREFIX") != nullptr) return;
  std::uint64_t left = H5Dget_storage_size(dataset);
  for (int i = 0; i < count; ++i) {
    std::array<char, 4096> raw{};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(creation, static_cast<unsigned>(i), raw.size() - 1, raw.data(), &offset,
                        &size) < 0)
      throw file.error(name, "its list of raw files cannot be read");
    const fs::path path = folder_of(hdf5, dataset) / raw.data();
    const std::uint64_t used = std::min<std::uint64_t>(left, size);
    left -= used;
    std::error_code failure;
    const std::uint64_t there = fs::file_size(path, failure);
    if (failure)
      throw file.error(name, "its values lie in the raw file " + path.string() +
                                 ", which cannot be opened: " + failure.message());
    if (there < static_cast<std::uint64_t>(offset) + used)
      throw file.error(name, "its raw file " + path.string() + " is cut short: " +
                                 std::to_string(static_cast<std::uint64_t>(offset) + used) +
                                 " bytes expected, " + std::to_string(there) + " there");
  }
}

/// Virtual layout: the values are those of datasets in other files. Numbered sources ("%b") may be
/// open-ended and are left to the library.
void require_sources(const hdf5_session& hdf5, const hdf5_file& file, const std::string& name,
                     hid_t dataset, hid_t creation) {
  std::size_t count = 0;
  if (H5Pget_layout(creation) != H5D_VIRTUAL || H5Pget_virtual_count(creation, &count) < 0) return;
  std::string last;
  for (std::size_t i = 0; i < count; ++i) {
    const auto source = text_of(
        [&](char* to, std::size_t room) { return H5Pget_virtual_filename(creation, i, to, room); });
    const auto part = text_of(
        [&](char* to, std::size_t room) { return H5Pget_virtual_dsetname(creation, i, to, room); });
    const std::string key = source + '\n' + part;
    if (key == last || source.find('%') != std::string::npos || part.find('%') != std::string::npos)
      continue;
    last = key;
    hdf5_file_id opened;
    if (source == ".") {
      opened = hdf5_file_id{H5Iget_file_id(dataset)};
    } else {
      const char* prefix = std::getenv("HDF5_VDS_PREFIX");
      for (const fs::path& folder :
           {fs::path{prefix != nullptr ? prefix : ""}, folder_of(hdf5, dataset)})
        if (!opened)
          opened = hdf5_file_id{H5Fopen((folder / source).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
    }
    const hdf5_dataset_id found{opened ? H5Dopen2(opened.get(), part.c_str(), H5P_DEFAULT)
                                       : H5I_INVALID_HID};
    if (!found)
      throw file.error(name, "is virtual, and its source, dataset '" + part + "' of " + source +
                                 ", is not there; the library would give fill values instead");
  }
}

}  // namespace

std::vector<hdf5_filter> filters_of(hid_t creation) {
  std::vector<hdf5_filter> filters;
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    std::array<char, 64> title{};
    std::array<unsigned, 64> values{};
    std::size_t used = values.size();
    unsigned flags = 0;
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &used,
                                           values.data(), title.size() - 1, title.data(), nullptr);
    used = std::min(used, values.size());
    filters.push_back(
        {id, title.data(), {values.begin(), values.begin() + static_cast<int>(used)}});
  }
  return filters;
}

bool is_being_written(hid_t dataset) {
  const hdf5_file_id opened{H5Iget_file_id(dataset)};
  unsigned intent = 0;
  return H5Fget_intent(opened.get(), &intent) < 0 || (intent & H5F_ACC_RDWR) != 0;
}

fs::path path_of_file(const hdf5_session& /*hdf5*/, hid_t dataset) {
  return text_of([&](char* to, std::size_t room) { return H5Fget_name(dataset, to, room); });
}

void require_library_can_read(const hdf5_session& hdf5, const hdf5_file& file,
                              const std::string& name, hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  if (!creation) throw file.error(name, "how it is stored cannot be read: " + hdf5.last_message());
  require_filters(file, name, creation.get());
  require_raw_files(hdf5, file, name, dataset, creation.get());
  require_sources(hdf5, file, name, dataset, creation.get());
}

bool leaves_gaps(const hdf5_session& hdf5, const hdf5_file& file, const std::string& name,
                 hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  H5D_fill_time_t when = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t defined = H5D_FILL_VALUE_DEFAULT;
  if (H5Pget_fill_time(creation.get(), &when) < 0 ||
      H5Pfill_value_defined(creation.get(), &defined) < 0)
    throw file.unreadable(hdf5, name, "when it is filled cannot be read");
  // As a number: the library passes on whatever the file says.
  std::underlying_type_t<H5D_fill_time_t> number = 0;
  static_assert(sizeof number == sizeof when);
  std::memcpy(&number, &when, sizeof number);
  if (number < H5D_FILL_TIME_ALLOC || number > H5D_FILL_TIME_IFSET)
    throw hdf5_unreadable{{.path = file.path(), .field = name},
                          "its fill time is " + std::to_string(number) +
                              ", which means nothing; the file is damaged: copy it anew"};
  return number == H5D_FILL_TIME_NEVER || defined == H5D_FILL_VALUE_UNDEFINED;
}

}  // namespace feedline::detail
