#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/sampler/sampler.hpp>

#include "programs/convert/damage.hpp"
#include "programs/convert/output/job.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace convert {

/// Another sampler's order without its beginning, and maybe without its end.
struct part_of {
  feedline::sampler whole;
  std::uint64_t first;
  std::uint64_t last;

  std::uint64_t size(std::uint64_t /*samples*/) const { return last - first; }
  void indices(std::uint64_t samples, std::uint64_t epoch, feedline::position at,
               std::span<feedline::sample_index> out) const {
    whole.indices(samples, epoch, {first + at.value}, out);
  }
  part_of bind(const feedline::dataset& of, std::uint64_t batch_size) const {
    return {whole.bind(of, batch_size), first, last};
  }
};

/// Another order without some samples: the others come in the order that they had.
class order_without {
 public:
  /// @param whole    Has been bound to the dataset, where it wants that.
  /// @param left_out In the order of their indices.
  order_without(feedline::sampler whole, std::uint64_t samples, const failures& left_out);

  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const {
    return whole_.size(samples) - gaps_.size();
  }
  void indices(std::uint64_t samples, std::uint64_t epoch, feedline::position at,
               std::span<feedline::sample_index> out) const;

 private:
  feedline::sampler whole_;
  /// For each sample that is left out, the position that is now its successor's.
  std::vector<std::uint64_t> gaps_;
};

/// The order in which a dataset's samples are written.
/// @param batch_size With which they are read.
[[nodiscard]] feedline::sampler order_of(const feedline::dataset& from, const job& job,
                                         std::uint64_t batch_size, const failures& left_out);

}  // namespace convert
