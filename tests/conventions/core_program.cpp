// A program of feedline::core alone; core_links_test.cmake looks at what it was linked from.

#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

int main() {
  const std::vector<std::uint32_t> numbers{1, 2, 3, 4};
  feedline::loader loader{feedline::make_memory_dataset({feedline::own("number", numbers)}),
                          feedline::sequential{},
                          feedline::make_host_device(),
                          {.batch_size = 2}};
  std::uint64_t sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (std::uint64_t i = 0; i < batch.size(); ++i)
      sum += batch["number"].data<std::uint32_t>()[i];
  std::cout << sum << '\n';
}
