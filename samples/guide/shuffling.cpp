// The code that docs/guide/shuffling.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/hdf5/dataset.hpp>
// [/includes]

feedline::loader windows_of_chunks(const feedline::device_ptr& gpu) {
  // [windows_of_chunks]
  auto train = feedline::open_hdf5("train.h5", {{"image"}, {"label"}});
  // Chunks are put in random order, in windows of 1024. The samples of each window are mixed.
  feedline::loader loader{train,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks(1024)},
                          gpu,
                          {.batch_size = 256}};
  // [/windows_of_chunks]
  return loader;
}
