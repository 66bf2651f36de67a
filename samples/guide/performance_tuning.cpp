// The code that docs/guide/performance-tuning.md shows.

// [plan]
#include <feedline/feedline.hpp>

#include <cstddef>
#include <iostream>

feedline::loader planned(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  feedline::loader loader{
      train,
      feedline::shuffle{.seed = 42},
      gpu,
      {.batch_size = 256, .readers = 4, .max_staging_bytes = std::size_t{64} << 20}};
  std::cout << to_string(loader.plan()) << '\n';
  return loader;
}
// [/plan]
