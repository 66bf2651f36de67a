#pragma once

#include <feedline/dataset/dataset.hpp>

#include <filesystem>
#include <string>

namespace mnist {

/// Digits to train on and to test with: fields "image" (bytes) and "label" (a byte).
struct digit_sets {
  feedline::dataset_ptr train;
  feedline::dataset_ptr test;
  std::string format;  ///< for people: "gzip-compressed IDX", "HDF5"
};

/// Opens what `data` holds: a folder with MNIST's four files, each plain or compressed (.gz); one with
/// digits called "train" and others called "test", whatever their format: train.h5 and test.h5,
/// train.tar and test.tar, folders with image.npy and label.npy; or the path of such a "train". Fields
/// are called "image" and "label", as feedline-convert keeps them; tar shards have members
/// N.image.npy and N.cls.
/// @throws feedline::usage_error naming what is missing; feedline::dataset_error for bad files.
[[nodiscard]] digit_sets open_digits(const std::filesystem::path& data);

}  // namespace mnist
