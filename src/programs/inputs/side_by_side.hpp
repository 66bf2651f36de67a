#pragma once

#include <feedline/dataset/dataset.hpp>

#include <string>
#include <vector>

/// Code shared by the programs.
namespace programs {

/// An input to read: PATH, or NAME=PATH.
struct input {
  std::string name;  ///< for its only field; empty: fields keep their names
  std::string path;  ///< a file, a folder, or a pattern of several
};

/// Takes "image=train.npy" apart. A text that is a path of something there is a path, and so is one
/// with a '/' before the '='.
[[nodiscard]] input input_of(const std::string& text);

/// One dataset with the fields of all inputs, under the names that are wanted.
/// @param parts The dataset of each input.
/// @throws feedline::usage_error if a name is to stand for several fields, two fields share one, or
///         numbers of samples differ.
[[nodiscard]] feedline::dataset_ptr side_by_side(const std::vector<input>& inputs,
                                                 std::vector<feedline::dataset_ptr> parts);

}  // namespace programs
