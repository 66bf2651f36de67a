#include "formats/open/format_table.hpp"

#include <algorithm>
#include <array>

// clang-format off
/// All formats, one a line: NAME_format() is in the format's own folder.
#define FEEDLINE_FORMATS(FORMAT) \
  FORMAT(hdf5) \
  FORMAT(npy) \
  FORMAT(npz) \
  FORMAT(tar) \
  FORMAT(tfrecord) \
  FORMAT(array_record) \
  FORMAT(mds) \
  FORMAT(wids) \
  FORMAT(litdata) \
  FORMAT(lmdb) \
  FORMAT(tokens) \
  FORMAT(cifar10) \
  FORMAT(cifar100) \
  FORMAT(idx) \
  FORMAT(zarr) \
  FORMAT(parquet) \
  FORMAT(array_files) \
  FORMAT(json_lines) \
  FORMAT(file_list) \
  FORMAT(csv) \
  FORMAT(image_folder)
// clang-format on

#define FEEDLINE_DECLARE(name) format_entry name##_format();
#define FEEDLINE_ENTRY(name) name##_format(),

namespace feedline::detail {

FEEDLINE_FORMATS(FEEDLINE_DECLARE)

std::span<const format_entry> format_table() {
  static const auto table = std::to_array<format_entry>({FEEDLINE_FORMATS(FEEDLINE_ENTRY)});
  return table;
}

const format_entry* find_format(std::string_view name) {
  const auto found = std::ranges::find(format_table(), name, &format_entry::name);
  return found == format_table().end() ? nullptr : &*found;
}

}  // namespace feedline::detail
