#include <feedline/error.hpp>

#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/source_places.hpp"
#include "hdf5/library/storage.hpp"
#include "io/local/file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// Path at which the library looks for a raw file, if the dataset was opened by `try_open_dataset`.
fs::path raw_path(const hdf5_session& hdf5, hid_t dataset, const fs::path& raw) {
  const char* const prefix = std::getenv("HDF5_EXTFILE_PREFIX");
  const fs::path own = path_of_file(hdf5, dataset).parent_path();
  return (prefix == nullptr || *prefix == '\0' ? own : prefix_folder(prefix, own)) / raw;
}

/// @param bytes Least size of the file. @throws hdf5_error
byte_file_ptr open_raw_file(const hdf5_file& file, const std::string& name, const fs::path& path,
                            std::uint64_t bytes) {
  const std::string which = "its values lie in the raw file " + path.string() + ", which ";
  if (const auto refusal = file.rule().refusal_of(path); !refusal.empty())
    throw file.error(name, which + refusal);
  byte_file_ptr raw;
  try {
    raw = std::make_shared<const local_file>(path, file_access::by_calls,
                                             std::chrono::nanoseconds{0});
  } catch (const dataset_error& failure) {
    throw file.error(name, which + failure.message());
  }
  if (raw->size() >= bytes) return raw;
  throw file.error(name, "its raw file " + path.string() +
                             " is cut short: " + std::to_string(bytes) + " bytes expected, " +
                             std::to_string(raw->size()) + " there");
}

}  // namespace

std::vector<hdf5_needed_file> raw_files_of(const hdf5_session& hdf5, const hdf5_file& file,
                                           const std::string& name, hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  const hdf5_space_id space{H5Dget_space(dataset)};
  const std::uint64_t all = H5Dget_storage_size(dataset);
  const auto extents = extents_of(hdf5, file, name, space.get());
  const std::uint64_t samples = extents.empty() ? 1 : std::max<hsize_t>(1, extents.front());
  const std::uint64_t sample_bytes = std::max<std::uint64_t>(1, all / samples);
  std::vector<hdf5_needed_file> files;
  std::uint64_t begin = 0;
  for (int i = 0; i < H5Pget_external_count(creation.get()); ++i) {
    std::array<char, 4096> raw{};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(creation.get(), static_cast<unsigned>(i), raw.size() - 1, raw.data(),
                        &offset, &size) < 0)
      throw file.error(name, "its list of raw files cannot be read");
    const std::uint64_t used = std::min<std::uint64_t>(all - begin, size);
    auto part = open_raw_file(file, name, raw_path(hdf5, dataset, raw.data()),
                              static_cast<std::uint64_t>(offset) + used);
    if (used != 0)
      files.push_back({std::move(part), begin / sample_bytes, (begin + used - 1) / sample_bytes});
    begin += used;
  }
  return files;
}

}  // namespace feedline::detail
