// Takes the place of hdf5_output.cpp where there is no HDF5 library.

#include <feedline/error.hpp>

#include "programs/convert/output/output.hpp"

namespace convert {

void leave_hdf5_as_it_is_at_exit() {}

std::unique_ptr<output> make_hdf5_output(const std::filesystem::path& path, const content& /*what*/,
                                         const hdf5_layout& /*layout*/) {
  throw feedline::usage_error{path.string() +
                              ": this feedline-convert was built without HDF5: install libhdf5-dev "
                              "and build it again, or take --to npy or --to records"};
}

}  // namespace convert
