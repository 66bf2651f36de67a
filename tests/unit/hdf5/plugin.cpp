/// A filter plugin for the HDF5 library, which finds it by HDF5_PLUGIN_PATH: it inverts every byte.

#include <H5PLextern.h>
#include <hdf5.h>

#include <cstddef>

namespace {

std::size_t invert(unsigned /*flags*/, std::size_t /*count*/, const unsigned* /*values*/,
                   std::size_t bytes, std::size_t* /*room*/, void** chunk) {
  auto* const each = static_cast<unsigned char*>(*chunk);
  for (std::size_t i = 0; i < bytes; ++i) each[i] = static_cast<unsigned char>(~each[i]);
  return bytes;
}

const H5Z_class2_t inverting{H5Z_CLASS_T_VERS, 32760, 1, 1, "inverting", nullptr, nullptr, invert};

}  // namespace

H5PL_type_t H5PLget_plugin_type() {
  return H5PL_TYPE_FILTER;
}

const void* H5PLget_plugin_info() {
  return &inverting;
}
