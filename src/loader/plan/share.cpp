#include "loader/plan/share.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <stdexcept>
#include <string>

namespace feedline::detail {
namespace {

/// "batch_size 4", or the global batch that it makes with several ranks.
std::string batch_size_of(const epoch_share& share) {
  std::string size = "batch_size " + std::to_string(share.batch_size);
  if (share.world == 1) return size;
  return "the global batch of " + std::to_string(share.global_batch()) + " samples (" + size +
         ", world " + std::to_string(share.world) + ")";
}

}  // namespace

epoch_share share_of(const sampler& sampler, const dataset& dataset,
                     const loader_options& options) {
  if (dataset.size() == 0)
    throw usage_error{"the dataset has no samples: there is nothing to load"};
  epoch_share share{.positions = sampler.size(dataset.size()),
                    .batch_size = options.batch_size,
                    .rank = static_cast<std::uint64_t>(options.shard.rank),
                    .world = static_cast<std::uint64_t>(options.shard.world)};
  if (share.positions == 0) {
    throw usage_error{"the sampler has no positions over the dataset's " +
                      std::to_string(dataset.size()) +
                      " samples, its size() is 0: there is nothing to load"};
  }
  const std::uint64_t rest = share.positions % share.global_batch();
  switch (options.partial_batch) {
    case partial_batch::keep:
      share.last = divide_up(rest, share.world);
      return share;
    case partial_batch::fill:
      share.last = rest == 0 ? 0 : share.batch_size;
      return share;
    case partial_batch::error:
      if (rest == 0) return share;
      throw usage_error{batch_size_of(share) + " leaves a last batch of " + std::to_string(rest) +
                        " of the epoch's " + std::to_string(share.positions) +
                        " samples, and partial_batch::error forbids one: choose a divisor, or "
                        "keep, fill or drop it"};
    case partial_batch::drop:
      if (share.whole_batches() != 0) return share;
      throw usage_error{batch_size_of(share) + " is larger than the epoch's " +
                        std::to_string(share.positions) +
                        " samples, and partial_batch::drop would leave nothing: lower batch_size, "
                        "or keep the last batch"};
  }
  throw std::logic_error{"feedline: loader_options::partial_batch was not validated"};
}

}  // namespace feedline::detail
