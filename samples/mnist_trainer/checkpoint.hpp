#pragma once

#include <feedline/loader/loader_state.hpp>

#include <filesystem>
#include <vector>

namespace mnist {

/// What an epoch's batches came to so far, over all ranks.
struct score {
  double loss = 0;    ///< sum of cross entropies, in nats
  double right = 0;   ///< digits recognised
  double digits = 0;  ///< digits seen

  void operator+=(const score& more) {
    loss += more.loss;
    right += more.right;
    digits += more.digits;
  }
};

/// All that a training needs to go on: where it stands, and what it has learnt. A file of it is
/// some lines of text, and then the values as they lie in memory:
///
///     feedline mnist_trainer checkpoint 1
///     {"feedline_state": 1, "epoch": 2, …}     the loader's place, by `to_json`
///     0x1.8p+9 0x1.2cp+10 0x1.77p+10           `so_far`, exact: loss, right, digits
///     784 256 128 10                           the network's sizes
struct checkpoint {
  feedline::loader_state place;
  score so_far;                    ///< of the epoch that `place` is in
  std::vector<std::size_t> sizes;  ///< `network::sizes`
  std::vector<float> values;       ///< `network::save`
};

/// Writes a file that takes the place of `path` when it is whole and on the disk: a process, or a
/// machine, that ends at any moment leaves the one before or the new one.
/// @throws std::runtime_error with the system's words.
void write_checkpoint(const std::filesystem::path& path, const checkpoint& made);

/// @param sizes Of the network that it is for.
/// @throws feedline::usage_error if the file is no checkpoint, not a whole one, or of a network of
/// other sizes; std::runtime_error if it cannot be read.
[[nodiscard]] checkpoint read_checkpoint(const std::filesystem::path& path,
                                         const std::vector<std::size_t>& sizes);

}  // namespace mnist
