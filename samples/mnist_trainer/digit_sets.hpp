#pragma once

#include <feedline/dataset/dataset.hpp>

#include <filesystem>
#include <string>

namespace mnist {

/// Digits to train on and to test with: fields "image" (bytes) and "label" (a byte).
struct digit_sets {
  feedline::dataset_ptr train;
  feedline::dataset_ptr test;
  std::string format;  ///< for people: "IDX", "gzip-compressed IDX", "HDF5"
};

/// Opens what `data` holds: a folder with MNIST's four files, each plain or compressed (.gz); a
/// folder with train.h5 and test.h5; or one of HDF5 training data, with test.h5 beside it. Each
/// HDF5 file has datasets "image" and "label", as feedline-convert
/// writes them.
/// @throws feedline::usage_error naming what is missing; feedline::dataset_error for bad files.
[[nodiscard]] digit_sets open_digits(const std::filesystem::path& data);

/// @throws feedline::usage_error if the trainer was built without HDF5.
[[nodiscard]] feedline::dataset_ptr open_hdf5_digits(const std::filesystem::path& file);

}  // namespace mnist
