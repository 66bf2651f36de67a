#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

/// Upper limit of the samples compared in a field, because some declare terabytes.
constexpr std::uint64_t max_samples = 64;
constexpr std::uint64_t max_bytes = 64 << 20;

std::vector<fs::path> hdf5_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().extension() == ".hdf5" || entry.path().extension() == ".h5")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// A dataset, and the names of a member of its records in each other, if it is one that is listed.
struct found_dataset {
  detail::hdf5_file_id file;
  std::string path;
  detail::hdf5_dataset_id id;
  std::vector<std::string> members = {};
};

found_dataset find_dataset(const fs::path& file, const std::string& path) {
  H5E_auto2_t printer = nullptr;
  void* printer_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &printer, &printer_data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  found_dataset found{
      detail::hdf5_file_id{H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)}, path, {}};
  const auto open = [&] {
    return detail::hdf5_dataset_id{H5Dopen2(found.file.get(), found.path.c_str(), H5P_DEFAULT)};
  };
  found.id = open();
  while (!found.id) {
    const auto last = found.path.find_last_of('/');
    require_hdf5(last != 0 && last != std::string::npos, "open a dataset that is listed");
    found.members.insert(found.members.begin(), found.path.substr(last + 1));
    found.path.resize(last);
    found.id = open();
  }
  H5Eset_auto2(H5E_DEFAULT, printer, printer_data);
  return found;
}

/// Adds where a member lies in a native type, byte by byte: one value, or one for each element of
/// an array.
void add_places(hid_t type, std::span<const std::string> members, std::size_t offset,
                std::vector<std::size_t>& places) {
  const std::size_t bytes = H5Tget_size(type);
  if (members.empty()) {
    for (std::size_t i = 0; i < bytes; ++i) places.push_back(offset + i);
    return;
  }
  if (H5Tget_class(type) == H5T_ARRAY) {
    const detail::hdf5_type_id each{H5Tget_super(type)};
    for (std::size_t i = 0; i < bytes; i += H5Tget_size(each.get()))
      add_places(each.get(), members, offset + i, places);
    return;
  }
  const int index = H5Tget_member_index(type, members.front().c_str());
  require_hdf5(index >= 0, "find a member that is listed");
  const auto member = static_cast<unsigned>(index);
  const detail::hdf5_type_id inner{H5Tget_member_type(type, member)};
  add_places(inner.get(), members.subspan(1), offset + H5Tget_member_offset(type, member), places);
}

/// The first rows of one dataset as the library gives them, in the type's native form.
class rows_by_library {
 public:
  explicit rows_by_library(hid_t dataset) {
    const detail::hdf5_type_id type{H5Dget_type(dataset)};
    native_ = detail::hdf5_type_id{H5Tget_native_type(type.get(), H5T_DIR_ASCEND)};
    const detail::hdf5_space_id space{H5Dget_space(dataset)};
    extent_vector counts(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), counts.data(), nullptr);
    const extent_vector start(counts.size(), 0);
    if (!counts.empty()) {  // else a single value
      counts[0] = std::min<hsize_t>(counts[0], max_samples);
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, counts.data(),
                          nullptr);
    }
    const detail::hdf5_space_id memory{
        counts.empty() ? H5Screate(H5S_SCALAR)
                       : H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr)};
    const auto values = static_cast<std::size_t>(H5Sget_select_npoints(space.get()));
    bytes_.resize(values * H5Tget_size(native_.get()));
    require_hdf5(
        H5Dread(dataset, native_.get(), memory.get(), space.get(), H5P_DEFAULT, bytes_.data()) >= 0,
        "read a dataset that is listed");
    require_hdf5(H5Dvlen_reclaim(native_.get(), memory.get(), H5P_DEFAULT, bytes_.data()) >= 0,
                 "give back values of variable length");
  }

  /// The rows, or those of a member of its records: what lies in records beside it is left out.
  std::vector<std::byte> of(std::span<const std::string> members) const {
    std::vector<std::size_t> places;
    add_places(native_.get(), members, 0, places);
    const std::size_t row_bytes = H5Tget_size(native_.get());
    std::vector<std::byte> rows;
    rows.reserve(bytes_.size() / row_bytes * places.size());
    for (std::size_t row = 0; row < bytes_.size(); row += row_bytes)
      for (const auto place : places) rows.push_back(bytes_[row + place]);
    return rows;
  }

 private:
  detail::hdf5_type_id native_;
  std::vector<std::byte> bytes_;
};

/// Whether the library has all filters that a dataset was stored through.
bool library_has_filters(hid_t dataset) {
  const detail::hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  for (int i = 0; i < H5Pget_nfilters(creation.get()); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    if (H5Zfilter_avail(H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values,
                                       nullptr, 0, nullptr, nullptr)) <= 0)
      return false;
  }
  return true;
}

/// CRC-32 of what h5py reads with the plugins of the hdf5plugin package: the files' values depend
/// on shape and type alone, whatever the filter.
struct known_values {
  std::uint64_t samples;
  element_type type;
  unsigned long crc;
};
constexpr known_values known[] = {
    {20, element_type::i8, 0x3bddffa4},  {20, element_type::i16, 0x68ec24b5},
    {20, element_type::f32, 0x4b2d0191}, {20, element_type::f64, 0xd239044d},
    {7, element_type::i8, 0x11e084b7},   {7, element_type::i16, 0x8e7582a4},
    {7, element_type::i32, 0x00857d30},  {7, element_type::f32, 0xe73b1652},
    {7, element_type::f64, 0x1de6e18d},
};

std::optional<std::string> fault_of_values(const hdf5_listing& listing,
                                           const std::vector<std::byte>& rows) {
  const auto crc = ::crc32(0, reinterpret_cast<const unsigned char*>(rows.data()),
                           static_cast<unsigned>(rows.size()));
  for (const auto& values : known)
    if (values.samples == listing.samples && values.type == listing.spec.type)
      return values.crc == crc ? std::nullopt
                               : std::optional<std::string>{"its rows are not h5py's"};
  return "nothing is known of its rows";
}

/// The rows that the library gave of a file's datasets, by their paths: it takes long over some
/// types.
using known_rows = std::map<std::string, rows_by_library>;

/// The fault of one field of a file, if it has one.
std::optional<std::string> fault_of(const fs::path& file, const hdf5_listing& listing,
                                    std::size_t resident_limit, known_rows& by_library) {
  dataset_ptr opened;
  try {
    opened = open_hdf5(file, {{listing.dataset}}, {.max_resident_bytes = resident_limit});
  } catch (const hdf5_error& refused) {
    const std::string message = refused.what();
    if (message.find("is stored through filter") != std::string::npos) return std::nullopt;
    return message;
  }
  if (opened->size() != listing.samples) return "the listing tells another number of samples";
  if (opened->fields() != std::vector{listing.spec}) return "the listing tells another field";
  if (sample_bytes(listing.spec) > max_bytes / max_samples) return std::nullopt;

  if (listing.samples == 0) return std::nullopt;
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < std::min(listing.samples, max_samples); ++i) samples.push_back({i});
  const auto rows = read_samples(*opened, samples).front();
  (void)read_sample(*opened, sample_index{listing.samples - 1});
  if (listing.spec.type == element_type::f16) return std::nullopt;  // natively a float, to HDF5
  const auto dataset = find_dataset(file, listing.dataset);
  if (!library_has_filters(dataset.id.get())) return fault_of_values(listing, rows);
  const auto& expected = by_library.try_emplace(dataset.path, dataset.id.get()).first->second;
  if (rows != expected.of(dataset.members)) return "its rows are not what the library reads";
  return std::nullopt;
}

}  // namespace

// Files of the jHDF project, made by many versions of h5py and HDF5.
TEST_CASE("hdf5: every field of other programs' files reads as with the library, or is refused",
          "[dataset][host]") {
  const auto folder = find_test_data("hdf5/jhdf");
  if (!folder)
    FEEDLINE_SKIP("no jHDF files: name the folder above hdf5/jhdf in FEEDLINE_TEST_DATA");
  std::vector<std::string> refused;
  std::size_t read = 0;
  std::size_t members = 0;
  for (const auto& file : hdf5_files_in(*folder)) {
    std::vector<hdf5_listing> listings;
    try {
      listings = list_hdf5_fields(file);
    } catch (const hdf5_error& error) {
      refused.push_back(error.what());
    }
    known_rows by_library;
    for (const auto& listing : listings) {
      if (listing.is_ragged) {
        INFO(file.filename().string() << ' ' << listing.dataset);
        CHECK_THROWS_AS(open_hdf5(file, {{listing.dataset}}), hdf5_error);
        const auto opened = open_hdf5_ragged(file, {listing.dataset});
        CHECK(opened->size() == listing.samples);
        CHECK(opened->element() == listing.spec);
        continue;
      }
      if (!listing.refusal.empty()) {
        INFO(file.filename().string() << ' ' << listing.dataset << ": " << listing.refusal);
        CHECK_THROWS_AS(open_hdf5(file, {{listing.dataset}}), hdf5_error);
        continue;
      }
      for (const std::size_t resident_limit : {0U, 1U << 20}) {
        const auto fault = fault_of(file, listing, resident_limit, by_library);
        INFO(file.filename().string()
             << ' ' << listing.dataset << ", " << to_string(listing.spec) << ", at most "
             << resident_limit << " bytes resident: " << fault.value_or("no fault"));
        CHECK_FALSE(fault.has_value());
      }
      ++read;
      members += listing.access.find("in records of") != std::string::npos;
    }
  }
  for (const auto& message : refused) {
    INFO(message);
    CHECK(message.find(folder->string()) == 0);
  }
  CHECK(read > 100);
  CHECK(members > 20);
}
