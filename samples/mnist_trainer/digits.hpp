#pragma once

#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/open.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace mnist {

namespace fs = std::filesystem;
using digit_sets = std::pair<feedline::dataset_ptr, feedline::dataset_ptr>;

/// One of MNIST's four files, by the name that its authors gave it.
inline fs::path idx_file(const fs::path& folder, const std::string& name) {
  for (const std::string ending : {"", ".gz"})
    if (fs::exists(folder / (name + ending))) return folder / (name + ending);
  throw feedline::usage_error{
      (folder / name).string() +
      ": not there, neither plain nor as .gz. The folder must hold MNIST's four files, or digits "
      "called 'train' and 'test'. make_digits makes digits; data/README.md says where MNIST is"};
}

inline bool is_npy_folder(const fs::path& path) {
  return fs::is_directory(path) && fs::exists(path / "image.npy");
}

inline feedline::dataset_ptr open_set(const fs::path& path) {
  if (is_npy_folder(path))
    return feedline::open_npy({{path / "image.npy", "image"}, {path / "label.npy", "label"}});
  return feedline::open(path,
                        {.fields = {"image", "label"}, .label_type = feedline::element_type::u8});
}

inline digit_sets open_pair(const fs::path& train) {
  const fs::path test = train.parent_path() / ("test" + train.extension().string());
  if (fs::exists(test)) return {open_set(train), open_set(test)};
  throw feedline::usage_error{test.string() + ": not there; beside " + train.string() +
                              " it is to hold the digits to test with"};
}

inline digit_sets open_any(const fs::path& data) {
  if (!fs::is_directory(data) || is_npy_folder(data)) return open_pair(data);
  for (const auto& entry : fs::directory_iterator{data})
    if (entry.path().stem() == "train") return open_pair(entry.path());
  return {feedline::open_idx(idx_file(data, "train-images-idx3-ubyte"),
                             idx_file(data, "train-labels-idx1-ubyte")),
          feedline::open_idx(idx_file(data, "t10k-images-idx3-ubyte"),
                             idx_file(data, "t10k-labels-idx1-ubyte"))};
}

/// Opens what `data` holds: a folder with MNIST's four files, each plain or compressed (.gz); one
/// with digits called "train" and others called "test", in any format: train.h5 and test.h5,
/// train.tar and test.tar, folders of image.npy and label.npy; or the path of such a "train".
/// Tar shards have members N.image.npy and N.cls.
/// @return Digits to train on, and to test with: fields "image" (bytes) and "label" (a byte).
/// @throws feedline::usage_error naming what is missing; feedline::dataset_error for bad files.
inline digit_sets open_digits(const fs::path& data) {
  digit_sets digits = open_any(data);
  const std::vector<feedline::field> train = digits.first->fields();
  const std::vector<feedline::field> test = digits.second->fields();
  if (train[0].type != feedline::element_type::u8 || train != test)
    throw feedline::usage_error{
        data.string() + ": images of bytes are wanted, alike to train on and " +
        "to test with; found " + to_string(train[0]) + " and " + to_string(test[0])};
  return digits;
}

}  // namespace mnist
