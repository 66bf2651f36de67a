#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <array>

namespace feedline::detail {
namespace {

/// The reason why the file's bytes may not be the dataset's, or nothing.
std::string fault_of_file(const hdf5_session& hdf5, hid_t dataset) {
  if (hdf5_driver::file_of(hdf5, dataset)) return {};
  return "its file is open for writing in this program, so newer values may lie in the library's "
         "memory";
}

std::vector<std::uint64_t> chunk_of(hid_t creation) {
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, extents.data());
  return {extents.begin(), extents.begin() + std::max(rank, 0)};
}

/// The fill value; zeros if none is defined or none is ever used, because the library would then
/// leave memory unchanged. The zeros have the size of a number only, because an element may be an
/// array of any size.
std::vector<std::byte> fill_of(const hdf5_session& hdf5, const hdf5_file& file,
                               const std::string& name, hid_t dataset,
                               const hdf5_element& element) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  H5D_fill_value_t defined = H5D_FILL_VALUE_DEFAULT;
  if (!leaves_gaps(hdf5, file, name, dataset) &&
      H5Pfill_value_defined(creation.get(), &defined) >= 0 &&
      defined == H5D_FILL_VALUE_USER_DEFINED) {
    std::vector<std::byte> fill(H5Tget_size(element.memory.get()));
    if (H5Pget_fill_value(creation.get(), element.memory.get(), fill.data()) >= 0) {
      reverse_elements(fill, element.left_swapped_bytes);
      return fill;
    }
  }
  return std::vector<std::byte>(element.swapped_bytes);
}

/// Size of all values; 0 if it is too large to count.
std::uint64_t all_bytes_of(hid_t dataset, const hdf5_storage_layout& place) {
  const hdf5_space_id space{H5Dget_space(dataset)};
  const hssize_t elements = std::max<hssize_t>(H5Sget_simple_extent_npoints(space.get()), 0);
  return checked_multiply<std::uint64_t>(static_cast<std::uint64_t>(elements), place.stored_bytes)
      .value_or(0);
}

}  // namespace

std::string hdf5_storage_layout::describe() const {
  if (!refusal.empty()) return "through the HDF5 library: " + refusal;
  const std::string records =
      is_spread() ? ", in records of " + std::to_string(stored_bytes) + " bytes" : "";
  switch (stored) {
    case layout::unwritten:
      return "never written";
    case layout::contiguous:
      return "contiguous" + records;
    case layout::chunked:
      return "chunks of " + std::to_string(chunk.front()) + " samples" +
             (filters.empty() ? "" : ", " + filters.describe()) + records;
    case layout::other:
      break;
  }
  return {};
}

hdf5_storage_layout examine_storage(const hdf5_session& hdf5, const hdf5_file& file,
                                    const std::string& name, hid_t dataset,
                                    const hdf5_element& element) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  if (!creation) throw file.unreadable(hdf5, name, "how it is stored cannot be read");

  hdf5_storage_layout place;
  place.element_bytes = H5Tget_size(element.memory.get());
  place.stored_bytes = element.record_bytes != 0 ? element.record_bytes : place.element_bytes;
  place.stored_offset = element.record_offset;
  place.swapped_bytes = element.swapped_bytes;
  place.fill = fill_of(hdf5, file, name, dataset, element);
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_CHUNKED) {
    place.chunk = chunk_of(creation.get());
    if (place.chunk.empty()) throw file.unreadable(hdf5, name, "its chunks cannot be read");
    place.stored = hdf5_storage_layout::layout::chunked;
    place.filters = hdf5_filters{filters_of(creation.get())};
  }

  place.refusal = fault_of_file(hdf5, dataset);
  if (place.refusal.empty()) place.refusal = element.indirect;
  if (!place.refusal.empty()) return place;
  if (H5Pget_external_count(creation.get()) > 0) {
    place.refusal = "its values lie in raw files beside the HDF5 file (external layout)";
  } else if (layout == H5D_COMPACT) {
    place.refusal = "its values lie within its header (compact layout)";
  } else if (layout == H5D_VIRTUAL) {
    place.refusal = "its values are those of other datasets (virtual layout)";
  } else if (layout == H5D_CHUNKED) {
    place.refusal = place.filters.refusal();
  } else if (layout == H5D_CONTIGUOUS) {
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    if (H5Dget_space_status(dataset, &status) < 0) {
      place.refusal = "the library does not tell whether it was written";
    } else if (status == H5D_SPACE_STATUS_NOT_ALLOCATED) {
      place.stored = hdf5_storage_layout::layout::unwritten;  // its offset would be meaningless
    } else if (place.is_spread() && H5Dget_storage_size(dataset) != all_bytes_of(dataset, place)) {
      place.refusal = "its size in the file is not that of its records";
    } else if (const haddr_t offset = H5Dget_offset(dataset);
               offset > HADDR_UNDEF - place.stored_bytes) {
      place.refusal = "the library does not tell where it lies";
    } else {
      place.stored = hdf5_storage_layout::layout::contiguous;
      place.offset = offset + place.stored_offset;
    }
  } else {
    place.refusal = "its layout is of a kind that feedline does not know";
  }
  return place;
}

}  // namespace feedline::detail
