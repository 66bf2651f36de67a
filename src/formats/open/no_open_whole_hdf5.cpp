#include <feedline/error.hpp>

#include "formats/open/format_table.hpp"

namespace feedline::detail {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "an HDF5 file, and this feedline was built without the HDF5 library; install "
                      "libhdf5-dev, and build feedline anew"};
}

}  // namespace

dataset_ptr open_whole_hdf5(const std::string& path, const open_options&) {
  refuse(path);
}

std::vector<listed_field> list_whole_hdf5(const std::string& path) {
  refuse(path);
}

}  // namespace feedline::detail
