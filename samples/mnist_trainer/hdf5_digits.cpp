#include <feedline/dataset/hdf5_dataset.hpp>

#include "digit_sets.hpp"

namespace mnist {

feedline::dataset_ptr open_hdf5_digits(const std::filesystem::path& file) {
  return feedline::open_hdf5(file, {{"image"}, {"label"}});
}

}  // namespace mnist
