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
      {.batch_size = 256, .readers = 4, .memory = {.pinned = std::size_t{64} << 20}}};
  std::cout << to_string(loader.plan()) << '\n';
  return loader;
}
// [/plan]

// [tuning]
feedline::loader tuned(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  feedline::loader_options options{.batch_size = 256};
  options.expert.tuning = {.max_readers = 32, .max_pinned_bytes = std::size_t{128} << 20};
  return {train, feedline::shuffle{.seed = 42}, gpu, options};
}

void print_choice(const feedline::loader& loader) {
  const feedline::tuning_statistics found = loader.statistics().tuning;
  std::cout << found.readers << " readers, " << found.staging_slots << " staging slots"
            << (found.settled ? ": " : " (still searching): ") << found.why << '\n';
}
// [/tuning]
