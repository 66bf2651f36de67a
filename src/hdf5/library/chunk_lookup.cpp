#include "hdf5/library/chunk_lookup.hpp"

#include <feedline/error.hpp>

#include <limits>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

// How the library says that a chunk was never written, or none of a dataset's; in all versions from
// 1.10.3 to 2.0.
constexpr std::string_view chunk_unwritten = "chunk address isn't defined";
constexpr std::string_view dataset_unwritten = "storage is not initialized";

hdf5_dataset_id open_same_object(hid_t dataset, hid_t file) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info3(dataset, &info, H5O_INFO_BASIC) < 0) return {};
  return hdf5_dataset_id{H5Oopen_by_token(file, info.token)};
#else
  H5O_info_t info{};
  if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0) return {};
  return hdf5_dataset_id{H5Oopen_by_addr(file, info.addr)};
#endif
}

/// Has the library look a chunk up and read it, which the driver does not do.
herr_t read_chunk(hid_t dataset, const hsize_t* first_element, std::uint32_t& filter_mask) {
  std::byte nothing{};
#if H5_VERSION_GE(2, 0, 0)
  std::size_t room = std::numeric_limits<std::size_t>::max();
  return H5Dread_chunk2(dataset, H5P_DEFAULT, first_element, &filter_mask, &nothing, &room);
#else
  return H5Dread_chunk(dataset, H5P_DEFAULT, first_element, &filter_mask, &nothing);
#endif
}

}  // namespace

hdf5_chunk_lookup::hdf5_chunk_lookup(const hdf5_session& hdf5, hid_t dataset,
                                     const random_file& file, std::string name)
    : driver_{hdf5, file}, path_{file.path()}, name_{std::move(name)} {
  file_ = driver_.open(hdf5);
  driver_.rethrow();
  if (file_) dataset_ = open_same_object(dataset, file_.get());
  driver_.rethrow();
  if (!dataset_ || H5Iget_type(dataset_.get()) != H5I_DATASET)
    throw hdf5_error{
        {.path = path_, .field = name_},
        "the HDF5 library cannot open it again to look for its chunks; the file may be "
        "being written, or was replaced: " +
            hdf5.last_message()};
}

hdf5_chunk hdf5_chunk_lookup::find(const hdf5_session& hdf5,
                                   std::span<const std::uint64_t> first_element) {
  if (is_unwritten_) return {};
  offset_.assign(first_element.begin(), first_element.end());
  std::uint32_t filter_mask = 0;
  const herr_t status = read_chunk(dataset_.get(), offset_.data(), filter_mask);
  driver_.rethrow();
  const auto asked = driver_.take_asked();
  if (status >= 0 && asked && asked->bytes <= std::numeric_limits<std::uint32_t>::max())
    return {.address = asked->offset,
            .bytes = static_cast<std::uint32_t>(asked->bytes),
            .filter_mask = filter_mask};

  const std::string message =
      status >= 0 ? "it gives no place in the file, or 4 GiB and more" : hdf5.last_message();
  is_unwritten_ = message == dataset_unwritten;
  if (is_unwritten_ || message == chunk_unwritten) return {};
  std::string place;
  for (const auto coordinate : first_element)
    place += (place.empty() ? "" : ", ") + std::to_string(coordinate);
  throw hdf5_error{{.path = path_, .field = name_},
                   "the HDF5 library cannot find the chunk at element (" + place +
                       "); its index may be damaged: " + message};
}

std::uint64_t hdf5_header_address(const hdf5_session& hdf5, hid_t dataset, const random_file& file,
                                  const std::string& name) {
  haddr_t address = HADDR_UNDEF;
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info3(dataset, &info, H5O_INFO_BASIC) >= 0)
    H5VLnative_token_to_addr(dataset, info.token, &address);
#else
  H5O_info_t info{};
  if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) >= 0) address = info.addr;
#endif
  if (address == HADDR_UNDEF)
    throw hdf5_error{
        {.path = file.path(), .field = name},
        "the HDF5 library does not tell where it is in the file: " + hdf5.last_message()};
  return address;
}

}  // namespace feedline::detail
