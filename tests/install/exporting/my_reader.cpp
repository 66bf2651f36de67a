#include <feedline/feedline.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

std::uint64_t sum_of_numbers(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  feedline::loader loader{feedline::make_memory_dataset({feedline::own("number", numbers)}),
                          feedline::shuffle{.seed = 1},
                          feedline::make_host_device(),
                          {.batch_size = 64}};
  std::uint64_t sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint32_t number : batch["number"].values<std::uint32_t>()) sum += number;
  return sum;
}
