// Takes the place of hdf5_digits.cpp where there is no HDF5 library.

#include <feedline/error.hpp>

#include "digit_sets.hpp"

namespace mnist {

feedline::dataset_ptr open_hdf5_digits(const std::filesystem::path& file) {
  throw feedline::usage_error{file.string() +
                              ": this trainer was built without HDF5: install libhdf5-dev and "
                              "build it again, or use the IDX files"};
}

}  // namespace mnist
