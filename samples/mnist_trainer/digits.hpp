#pragma once

#include <feedline/dataset/dataset.hpp>

#include <filesystem>
#include <utility>

namespace mnist {

/// Opens what `data` holds: a folder with MNIST's four files, each plain or compressed (.gz); one
/// with digits called "train" and others called "test", in any format: train.h5 and test.h5,
/// train.tar and test.tar, folders of image.npy and label.npy; or the path of such a "train".
/// Tar shards have members N.image.npy and N.cls.
/// @return Digits to train on, and to test with: fields "image" (bytes) and "label" (a byte).
/// @throws feedline::usage_error naming what is missing; feedline::dataset_error for bad files.
[[nodiscard]] std::pair<feedline::dataset_ptr, feedline::dataset_ptr> open_digits(
    const std::filesystem::path& data);

}  // namespace mnist
