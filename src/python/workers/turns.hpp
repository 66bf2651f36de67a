#pragma once

#include <feedline/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace feedline::python {

/// The order of several streams' samples: each stream gives a chunk of samples in turn, and
/// those that have ended are passed over. It depends on the lengths and the chunk alone.
class stream_turns {
 public:
  struct place {
    std::size_t stream;
    std::uint64_t number;  ///< among the stream's samples
  };

  /// @param lengths Samples of each stream. @param chunk At least 1.
  stream_turns(std::vector<std::uint64_t> lengths, std::uint64_t chunk)
      : lengths_{std::move(lengths)}, chunk_{chunk} {
    if (lengths_.empty() || chunk_ == 0) throw usage_error{"streams and chunks must not be empty"};
    rounds_ = (*std::ranges::max_element(lengths_) + chunk_ - 1) / chunk_;
  }

  /// Samples of all streams in the first rounds.
  [[nodiscard]] std::uint64_t before_round(std::uint64_t round) const noexcept {
    std::uint64_t samples = 0;
    for (const std::uint64_t length : lengths_) samples += std::min(length, round * chunk_);
    return samples;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return before_round(rounds_); }

  /// @param index Less than `size()`.
  [[nodiscard]] place at(std::uint64_t index) const {
    if (index >= size()) throw usage_error{"no sample " + std::to_string(index)};
    std::uint64_t round = 0;
    for (std::uint64_t end = rounds_; end - round > 1;) {
      const std::uint64_t middle = round + (end - round) / 2;
      (before_round(middle) <= index ? round : end) = middle;
    }
    std::uint64_t rest = index - before_round(round);
    for (std::size_t stream = 0;; ++stream) {
      const std::uint64_t given = std::min(lengths_[stream], round * chunk_);
      const std::uint64_t gives = std::min(lengths_[stream] - given, chunk_);
      if (rest < gives) return {stream, given + rest};
      rest -= gives;
    }
  }

 private:
  std::vector<std::uint64_t> lengths_;
  std::uint64_t chunk_;
  std::uint64_t rounds_ = 0;
};

}  // namespace feedline::python
