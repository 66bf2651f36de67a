#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace feedline::detail {

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

bool leaves_gaps(const hdf5_session& hdf5, const hdf5_file& file, const std::string& name,
                 hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  H5D_fill_time_t when = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t defined = H5D_FILL_VALUE_DEFAULT;
  if (H5Pget_fill_time(creation.get(), &when) < 0 ||
      H5Pfill_value_defined(creation.get(), &defined) < 0)
    throw file.unreadable(hdf5, name, "its fill time cannot be read");
  // Taken as a number, because the library passes on any value from the file.
  std::underlying_type_t<H5D_fill_time_t> number = 0;
  static_assert(sizeof number == sizeof when);
  std::memcpy(&number, &when, sizeof number);
  if (number < H5D_FILL_TIME_ALLOC || number > H5D_FILL_TIME_IFSET)
    throw hdf5_unreadable{{.path = file.path(), .field = name},
                          "its fill time is " + std::to_string(number) +
                              ", which has no meaning; the file is damaged: copy it again"};
  return number == H5D_FILL_TIME_NEVER || defined == H5D_FILL_VALUE_UNDEFINED;
}

}  // namespace feedline::detail
