#include "dataset/hdf5_file.hpp"

#include "dataset/hdf5_member.hpp"
#include "dataset/name_list.hpp"

#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace feedline::detail {
namespace {

/// What is wrong with the path itself, which the library would not say plainly; or nothing.
std::string fault_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "is a directory; name a file in it";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return "cannot be opened: " + std::generic_category().message(errno) +
           "; check the path and its permissions";
  ::close(descriptor);
  return {};
}

hdf5_properties_id access_properties() {
  hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
#if H5_VERSION_GE(1, 12, 1) || (!H5_VERSION_GE(1, 12, 0) && H5_VERSION_GE(1, 10, 7))
  // A writer's lock is respected, but a file system that has no locks is no obstacle.
  H5Pset_file_locking(access.get(), true, true);
#endif
  return access;
}

herr_t collect_link(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/,
                    void* names) noexcept {
  try {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}

std::string list_of(const std::vector<std::string>& names) {
  return names.empty() ? "the file has no datasets" : "the file has " + list_names(names);
}

/// How much of a path there are links for; the library's own check takes one link at a time.
std::size_t linked_length(hid_t file, std::string_view path) {
  std::size_t linked = 0;
  for (std::size_t end = 0; end < path.size();) {
    const std::size_t begin = path.find_first_not_of('/', end);
    if (begin == std::string_view::npos) break;
    end = std::min(path.find('/', begin), path.size());
    if (H5Lexists(file, std::string{path.substr(0, end)}.c_str(), H5P_DEFAULT) <= 0) return linked;
    linked = end;
  }
  return path.size();
}

/// Rows come in any order: chunks stay decoded as long as there is room, for the library's own
/// megabyte would decode a bigger chunk again for every row.
hdf5_properties_id dataset_access() {
  constexpr std::size_t chunk_slots = 12'421;  // a prime, for the library hashes by remainder
  constexpr std::size_t chunk_cache_bytes = 64 << 20;
  hdf5_properties_id access{H5Pcreate(H5P_DATASET_ACCESS)};
  H5Pset_chunk_cache(access.get(), chunk_slots, chunk_cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

bool has_raw_files(hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  return H5Pget_external_count(creation.get()) > 0;
}

/// Opens a dataset; raw files of an external one are looked for where the HDF5 file is, wherever
/// the program runs. Others are opened with no such prefix, for the library refuses two in one
/// program.
hdf5_dataset_id try_open(hid_t file, const std::string& dataset) {
  const auto access = dataset_access();
  hdf5_dataset_id id{H5Dopen2(file, dataset.c_str(), access.get())};
  if (id && !has_raw_files(id.get())) return id;
  id = hdf5_dataset_id{};
  H5Pset_efile_prefix(access.get(), "${ORIGIN}");
  return hdf5_dataset_id{H5Dopen2(file, dataset.c_str(), access.get())};
}

}  // namespace

hdf5_file::hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path)
    : path_{path.string()} {
  if (const auto fault = fault_of(path); !fault.empty())
    throw hdf5_error{{.path = path_, .field = {}}, fault};
  const auto access = access_properties();
  id_ = hdf5_file_id{H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get())};
  if (id_) return;
  const auto message = hdf5.last_message();
  if (H5Fis_hdf5(path_.c_str()) == 0)
    throw hdf5_error{{.path = path_, .field = {}}, "is not an HDF5 file: " + message};
  throw hdf5_error{{.path = path_, .field = {}},
                   "the HDF5 library cannot open it; it may be cut short, damaged, or still being "
                   "written: " +
                       message};
}

std::vector<std::string> hdf5_file::dataset_paths(const hdf5_session& hdf5) const {
  std::vector<std::string> paths;
  if (H5Lvisit(id_.get(), H5_INDEX_NAME, H5_ITER_NATIVE, collect_link, &paths) < 0)
    throw hdf5_error{{.path = path_, .field = {}},
                     "its groups cannot be listed: " + hdf5.last_message()};
  std::erase_if(paths, [this](const std::string& path) { return !try_open(id_.get(), path); });
  for (auto& path : paths) path.insert(path.begin(), '/');
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> hdf5_file::member_paths(const hdf5_session& hdf5,
                                                 const std::string& dataset) const {
  const auto id = open_dataset(hdf5, dataset);
  const hdf5_type_id type{H5Dget_type(id.get())};
  return detail::member_paths(hdf5, type.get());
}

hdf5_error hdf5_file::no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                      const std::string& besides) const {
  return error(dataset, "there is no such dataset; " + list_of(dataset_paths(hdf5)) + besides);
}

hdf5_dataset_id hdf5_file::open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                        std::string* member) const {
  if (member != nullptr) member->clear();
  if (const std::size_t linked = linked_length(id_.get(), dataset); linked < dataset.size()) {
    if (member != nullptr && linked > 0)
      if (auto id = try_open(id_.get(), dataset.substr(0, linked))) {
        *member = dataset.substr(linked + 1);
        return id;
      }
    throw no_such_dataset(hdf5, dataset);
  }
  if (auto id = try_open(id_.get(), dataset)) return id;

  const auto message = hdf5.last_message();
  const hdf5_object_id object{
      H5Oopen(id_.get(), dataset.empty() ? "/" : dataset.c_str(), H5P_DEFAULT)};
  if (object && H5Iget_type(object.get()) != H5I_DATASET)
    throw error(dataset, "is a group or a type, not a dataset; " + list_of(dataset_paths(hdf5)));
  throw error(dataset, "cannot be opened: " + message);
}

}  // namespace feedline::detail
