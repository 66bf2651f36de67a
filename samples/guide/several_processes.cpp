// The code that docs/guide/several-processes.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <cstdint>
// [/includes]

feedline::loader training(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  // [training]
  const auto self = feedline::shard::from_environment();
  feedline::loader loader{train,
                          feedline::shuffle{.seed = 42},
                          gpu,
                          {.batch_size = self.batch_share(1024), .shard = self}};
  // [/training]
  return loader;
}

// [evaluation]
std::uint64_t evaluated(const feedline::dataset_ptr& test, const feedline::shard& self) {
  feedline::loader loader{test,
                          feedline::sequential{},
                          feedline::make_host_device(),
                          {.batch_size = 256, .shard = self}};
  std::uint64_t samples = 0;  // the sum over all ranks is the size of the dataset
  for (feedline::batch& batch : loader.epoch(0)) samples += batch.size() - batch.repeats();
  return samples;
}
// [/evaluation]

feedline::loader lanes(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu,
                       const feedline::shard& self) {
  // [lanes]
  feedline::loader loader{
      train,
      feedline::shuffle{.seed = 42, .within = feedline::chunks(1024), .lanes = 64},
      gpu,
      {.batch_size = self.batch_share(1024), .shard = self}};
  // [/lanes]
  return loader;
}
