#include <feedline/error.hpp>

#include "formats/open/format_table.hpp"

namespace feedline::detail {

dataset_ptr open_whole_hdf5(const std::filesystem::path& path, const open_options&) {
  throw dataset_error{{.path = path.string(), .field = {}},
                      "an HDF5 file, and this feedline was built without the HDF5 library; install "
                      "libhdf5-dev, and build feedline anew"};
}

}  // namespace feedline::detail
