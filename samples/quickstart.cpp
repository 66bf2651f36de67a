// The smallest whole use of feedline: a dataset in memory, a loader, a loop. No GPU, no download.
//
// Build:  cmake --preset release && cmake --build --preset release --target quickstart
// Run:    build/release/samples/quickstart
// Expect: epoch 0: first labels 9 9 8 4 9, 1000 samples in 32 batches, label sum 4500
//         epoch 1: first labels 3 0 6 7 2, 1000 samples in 32 batches, label sum 4500

#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

int main() {
  std::vector<float> images(1000 * 28 * 28, 0.5F);
  std::vector<std::uint8_t> labels(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);

  auto digits = feedline::make_memory_dataset({feedline::own("image", std::move(images), {28, 28}),
                                               feedline::own("label", std::move(labels))});
  feedline::loader loader{digits,
                          feedline::shuffle{.seed = 42},
                          feedline::make_host_device(),
                          {.batch_size = 32, .epochs = 2}};

  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::uint64_t samples = 0, batches = 0, sum = 0;
    std::cout << "epoch " << epoch << ": first labels";
    for (feedline::batch& batch : loader.epoch(epoch)) {
      const auto seen = batch["label"].values<std::uint8_t>();
      for (std::uint64_t i = 0; batches == 0 && i < 5; ++i) std::cout << ' ' << int{seen[i]};
      for (const std::uint8_t label : seen) sum += label;
      samples += batch.size();
      ++batches;
    }
    std::cout << ", " << samples << " samples in " << batches << " batches, label sum " << sum
              << '\n';
  }
}
