#pragma once

#include <feedline/index.hpp>

#include "sampler/bijection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// An epoch of m different samples, each in it with a chance in proportion to its weight. A
/// sampler; it implements `weighted` without replacement.
///
/// Systematic sampling: samples lie on a line of length m, each as long as its chance, so at most
/// 1. A point drawn from [0, 1), and the points at distance 1, 2, … m - 1 from it, hit m samples.
/// None is hit twice, and each is hit with its chance, in whatever order they lie. On one line that
/// never changes, few sets of samples could result. So the samples lie in random order in up to 64
/// groups. Each epoch draws an order of the groups and a sample with which each group begins; the
/// samples before it are moved to the group's end. A bijection maps positions to points.
///
/// Lengths are integers: 1 is 2^shift. With g groups, a call costs O(g), and a draw O(log g) and a
/// look into a guide, which leads to about one sample (H. Chen, Y. Asau, "On Generating Random
/// Variates from an Empirical Distribution", AIIE Transactions 1974).
class systematic_order {
 public:
  /// @param weights Checked, as by `integer_weights`; fewer than 2^32.
  /// @throws usage_error if `epoch_size` is 0, or more than there are weights above 0.
  systematic_order(std::span<const double> weights, std::uint64_t seed, std::uint64_t epoch_size);

  /// @throws usage_error if there are not as many samples as weights.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  /// The line before an epoch arranges its groups. Samples are numbered by their index on it.
  struct line {
    std::vector<std::uint64_t> ends;   ///< end of the sample at each index
    std::vector<std::uint32_t> guide;  ///< for each cell, the index of the sample that its first
                                       ///< point falls into
    unsigned cell_shift = 0;           ///< a cell is 2^this long

    [[nodiscard]] std::uint64_t start(std::uint64_t place) const noexcept {
      return place == 0 ? 0 : ends[place - 1];
    }
    [[nodiscard]] std::uint64_t place_at(std::uint64_t point) const noexcept;
  };
  class arrangement;

  [[nodiscard]] std::uint64_t samples() const noexcept { return line_->ends.size(); }

  std::uint64_t seed_;
  std::uint64_t epoch_size_;
  unsigned shift_;
  bijection places_;  ///< order of the samples on the line
  std::shared_ptr<const line> line_;
};

}  // namespace feedline::detail
