#pragma once

#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "operations.hpp"
#include "options.hpp"
#include "ranks.hpp"

namespace mnist {

inline feedline::shuffle order_of(const trainer_options& options) {
  feedline::shuffle order{.seed = options.seed};
  if (options.within_chunks != 0) order.within = feedline::chunks(options.within_chunks);
  return order;
}

/// @param batch_size Of this rank.
inline feedline::loader_options loading(const trainer_options& options, const rank& self,
                                        std::uint64_t batch_size) {
  feedline::loader_options loading{.batch_size = batch_size, .shard = self.share};
  loading.epochs = options.epochs;  // so that each is read ahead while the one before ends
  loading.readers = options.prefetch ? options.readers : 0;
  loading.batches_per_slot = options.prefetch ? 0 : 1;
  loading.placement = options.placement;
  loading.max_device_cache_bytes = options.cache_mib << 20;
  // Bytes cross the bus, floats reach the network. This is MNIST's mean pixel, and its deviation.
  loading.transforms = {{.field = "image", .mean = {33.3}, .stddev = {78.6}},
                        {.field = "label", .one_hot = classes}};
  return loading;
}

}  // namespace mnist
