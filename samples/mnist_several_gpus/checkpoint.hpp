#pragma once

#include <feedline/loader/loader_state.hpp>

#include "network.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mnist {

/// State from which a training continues. A file has lines of text, then the values as in memory:
///
///     feedline mnist_trainer checkpoint 2
///     {"feedline_loader_state": 2, "epoch": 2, …}     the loader's place, by `to_json`
///     0x1.8p+9 0x1.77p+10                             `so_far`, exact: loss, digits
///     784 256 128 10                                  the network's sizes
struct checkpoint {
  feedline::loader_state place;
  score so_far;                    ///< in the epoch of `place`
  std::vector<std::size_t> sizes;  ///< number of inputs, then the size of each layer
  std::vector<float> values;       ///< `network::values`
};

/// Writes a file and renames it when it is on the disk: after any failure, either the previous file
/// or the new one is left.
/// @throws std::runtime_error with the system's words.
void write_checkpoint(const std::filesystem::path& path, const checkpoint& made);

/// Call it before hours of training: it throws where `write_checkpoint` would.
/// @throws feedline::usage_error naming the option, the folder, and why no file can be made there.
void require_place_for_checkpoint(const std::filesystem::path& path);

/// @param sizes Sizes of the network that it is for.
/// @throws feedline::usage_error if the file is not a checkpoint, is incomplete, or belongs to a
/// network of other sizes; std::runtime_error if it cannot be read.
[[nodiscard]] checkpoint read_checkpoint(const std::filesystem::path& path,
                                         const std::vector<std::size_t>& sizes);

/// A text file with a line for each batch, "EPOCH BATCH VALUE", to compare runs by.
class batch_lines {
 public:
  batch_lines() = default;  ///< writes nothing
  /// @param path Empty: nothing is written.
  /// @param begin Position at which the run continues: lines of earlier batches stay, and no
  /// others.
  /// @throws std::runtime_error if it cannot be written.
  batch_lines(const std::filesystem::path& path, const feedline::loader_state& begin);

  /// Writes a line with `value`, by a format of printf's.
  template <class Value>
  void add(std::uint64_t epoch, std::uint64_t batch, const char* format, Value value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    if (file_.is_open()) file_ << epoch << ' ' << batch << ' ' << text << '\n';
  }
  /// Call it before a checkpoint is written, so that the lines of its batches are in the file.
  /// @throws std::runtime_error if they could not be written.
  void flush();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace mnist
