#pragma once

#include <feedline/sampler/sampler.hpp>

#include "sampler/epoch_share.hpp"

#include <utility>

namespace feedline::detail {

/// One rank's part of an epoch's order. A sampler over the rank's samples as numbered by an
/// `epoch_share`.
class rank_order {
 public:
  rank_order(sampler order, const epoch_share& share) : order_{std::move(order)}, share_{share} {}

  [[nodiscard]] std::uint64_t size(std::uint64_t /*samples*/) const noexcept {
    return share_.places();
  }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::uint64_t place = first.value; !out.empty();) {
      const std::uint64_t at = share_.at(place).value;
      const bool repeated = at >= share_.positions;
      const std::uint64_t from = repeated ? (at - share_.positions) % share_.positions : at;
      const std::uint64_t of_batch = share_.batch_size - place % share_.batch_size;
      const auto run =
          out.first(std::min<std::uint64_t>({out.size(), of_batch, share_.positions - from}));
      order_.indices(samples, epoch, position{from}, run);
      out = out.subspan(run.size());
      place += run.size();
    }
  }

 private:
  sampler order_;
  epoch_share share_;
};

/// An epoch's order, and one rank's part of it.
struct shared_order {
  shared_order(sampler order, const epoch_share& part)
      : all{std::move(order)},
        share{part},
        own{share.is_all() ? all : sampler{rank_order{all, share}}} {}

  sampler all;        ///< bound, over all ranks
  epoch_share share;  ///< the rank's positions
  sampler own;        ///< the rank's samples by their number; `all` if each number is the position
};

}  // namespace feedline::detail
