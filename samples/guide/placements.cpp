// The code that docs/guide/placements.md shows.

// [cached]
#include <feedline/feedline.hpp>

#include <cstddef>

feedline::loader cached(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  feedline::loader_options options{.batch_size = 256, .epochs = 90};
  // Rows stay in up to 8 GiB of the GPU's memory once they have passed; the rest is streamed.
  options.memory.cache = std::size_t{8} << 30;
  return {train, feedline::shuffle{.seed = 42}, gpu, options};
}
// [/cached]
