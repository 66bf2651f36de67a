#pragma once

#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/sampler/explicit_order.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/data/samplers/base.h>
#include <torch/data/samplers/distributed.h>

namespace FEEDLINE_EXPORT feedline::libtorch {

/// Converts a libtorch sampler's order to a sampler for a loader:
///
///     torch::data::samplers::RandomSampler shuffled{60'000};
///     feedline::loader loader{train, feedline::libtorch::draw_order(shuffled, 10), gpu, options};
///
/// A libtorch sampler is a sequence that is drawn once, but a loader asks for any part of any
/// epoch, from any thread. So all epochs are drawn here, on the calling thread, with its generator.
/// Call `torch::manual_seed` before to get the same orders again. Takes 4 bytes an index.
///
/// @param from   The sampler, reset before each epoch. A `DistributedSampler` is told the epoch's
/// number. Its indices are those of its rank, so do not give the loader a `shard`. Not used after
/// this call.
/// @param epochs Number of epochs to draw, at least 1: epoch e of the loader uses order e mod
/// `epochs`.
/// @throws usage_error if `epochs` is 0, an epoch has no index, or epochs differ in length;
/// exceptions of the sampler. A loader throws usage_error if an index is beyond its dataset.
[[nodiscard]] inline explicit_order draw_order(torch::data::samplers::Sampler<>& from,
                                               std::uint64_t epochs = 1) {
  constexpr std::size_t indices_at_once = 4096;
  auto* const distributed = dynamic_cast<torch::data::samplers::DistributedSampler<>*>(&from);
  std::vector<std::uint64_t> all;
  std::size_t per_epoch = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    if (distributed != nullptr) distributed->set_epoch(epoch);
    from.reset(std::nullopt);
    const std::size_t before = all.size();
    while (const auto some = from.next(indices_at_once))
      all.insert(all.end(), some->begin(), some->end());
    if (epoch == 0) per_epoch = all.size();
    if (all.size() - before != per_epoch) {
      throw usage_error{"libtorch's sampler has " + std::to_string(all.size() - before) +
                        " indices in epoch " + std::to_string(epoch) + " and " +
                        std::to_string(per_epoch) +
                        " in epoch 0: a loader's epochs have one length"};
    }
  }
  return explicit_order{all, epochs};
}

}  // namespace feedline::libtorch
