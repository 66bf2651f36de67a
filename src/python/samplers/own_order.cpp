#include "python/samplers/own_order.hpp"

#include <feedline/error.hpp>

#include "python/datasets/arrays.hpp"
#include "python/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>

namespace feedline::python {
namespace {

/// Orders that are kept: those of the epochs that are delivered and read ahead, and two that were
/// left.
constexpr std::size_t kept_orders = 4;

}  // namespace

struct own_order::epoch_order {
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> samples;
  std::uint64_t digest = 0;
  std::size_t largest = 0;  ///< position of the largest sample
};

struct own_order::shared {
  std::shared_ptr<held_objects> among;
  held_object drawer;
  std::shared_ptr<const epoch_order> first;  ///< epoch 0, with its largest sample alone
  std::uint64_t size = 0;
  std::optional<std::uint64_t> batch_size;  ///< the object gives batches of this size
  std::mutex mutex;                         ///< never held while Python runs
  std::vector<std::shared_ptr<const epoch_order>> orders;  ///< the last one that was asked for last
};

own_order::own_order(nb::object drawer, std::shared_ptr<held_objects> among)
    : shared_{std::make_shared<shared>()} {
  shared_->among = std::move(among);
  shared_->size = nb::cast<std::uint64_t>(drawer.attr("size"));
  shared_->batch_size = nb::cast<std::optional<std::uint64_t>>(drawer.attr("batch_size"));
  shared_->drawer = held_object{std::move(drawer), *shared_->among};
  auto first = std::make_shared<epoch_order>(*drawn(0));
  first->samples = {first->samples[first->largest]};
  shared_->first = std::move(first);
}

std::uint64_t own_order::size(std::uint64_t samples) const {
  require_within(samples, *shared_->first, shared_->first->samples[0]);
  return shared_->size;
}

void own_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                        std::span<sample_index> out) const {
  const auto order = order_of(samples, epoch);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {order->samples[first.value + i]};
}

std::uint64_t own_order::digest(std::uint64_t samples, std::uint64_t epoch) const {
  return (epoch == 0 ? shared_->first : order_of(samples, epoch))->digest;
}

own_order own_order::bind(const dataset& /*data*/, std::uint64_t batch_size) const {
  if (!shared_->batch_size || *shared_->batch_size == batch_size) return *this;
  throw usage_error{"the sampler gives batches of " + std::to_string(*shared_->batch_size) +
                    " samples, and the loader makes batches of " + std::to_string(batch_size) +
                    " (of all ranks together): set batch_size to the sampler's, divided by the "
                    "number of ranks"};
}

std::shared_ptr<const own_order::epoch_order> own_order::order_of(std::uint64_t samples,
                                                                  std::uint64_t epoch) const {
  auto found = drawn(epoch);
  require_within(samples, *found, found->samples[found->largest]);
  return found;
}

void own_order::require_within(std::uint64_t samples, const epoch_order& order,
                               std::uint64_t largest) {
  if (largest < samples) return;
  throw usage_error{"the sampler gives sample " + std::to_string(largest) + " at position " +
                    std::to_string(order.largest) + " of epoch " + std::to_string(order.epoch) +
                    ", but the dataset has samples 0 to " + std::to_string(samples - 1)};
}

std::shared_ptr<const own_order::epoch_order> own_order::drawn(std::uint64_t epoch) const {
  auto& orders = shared_->orders;
  {
    const std::scoped_lock lock{shared_->mutex};
    const auto found =
        std::ranges::find_if(orders, [&](const auto& each) { return each->epoch == epoch; });
    if (found != orders.end()) {
      std::rotate(found, found + 1, orders.end());
      return orders.back();
    }
  }
  interruption::rethrow_if_any();
  const auto made = std::make_shared<epoch_order>();
  made->epoch = epoch;
  locked([&] {
    try {
      const nb::object order =
          shared_->drawer.for_call()(epoch);  // another thread's, if it draws now
      made->samples = numbers<std::uint64_t>(order[0]);
      made->digest = nb::cast<std::uint64_t>(order[1]);
    } catch (nb::python_error& raised) {
      rethrow(raised, std::nullopt, *shared_->among);
    }
  });
  made->largest =
      static_cast<std::size_t>(std::ranges::max_element(made->samples) - made->samples.begin());
  const std::scoped_lock lock{shared_->mutex};
  if (orders.size() == kept_orders) orders.erase(orders.begin());
  orders.push_back(made);
  return made;
}

}  // namespace feedline::python
