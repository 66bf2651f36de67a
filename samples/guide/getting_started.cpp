// The code that docs/guide/getting-started.md shows.

// [on_the_cpu]
#include <feedline/feedline.hpp>

#include <cstdint>

std::uint64_t sum_of_labels() {
  auto digits = feedline::open_idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
  feedline::loader loader{
      digits, feedline::shuffle{.seed = 42}, feedline::make_host_device(), {.batch_size = 256}};
  std::uint64_t sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint8_t label : batch["label"].values<std::uint8_t>()) sum += label;
  return sum;
}
// [/on_the_cpu]
