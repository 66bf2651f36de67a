// The mean of 1,000 numbers, which come in batches on the CPU. To use a GPU, replace the host's
// device by the GPU's; nothing else changes. A test needs no GPU.

#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

int main() {
  std::vector<std::uint32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto dataset = feedline::make_memory_dataset({feedline::own("number", numbers)});
  feedline::loader loader{
      dataset, feedline::shuffle{.seed = 42}, feedline::make_host_device(), {.batch_size = 64}};

  double sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint32_t number : batch["number"].values<std::uint32_t>()) sum += number;
  std::cout << "mean " << sum / static_cast<double>(dataset->size()) << '\n';
}
