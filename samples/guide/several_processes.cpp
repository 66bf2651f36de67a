// The code that docs/guide/several-processes.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
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

// [agree]
/// @param digests `loader.order_digest()` of every rank, by MPI_Allgather or ncclAllGather
void require_one_run(std::span<const std::uint64_t> digests) {
  for (std::size_t rank = 1; rank < digests.size(); ++rank)
    if (digests[rank] != digests[0])
      throw std::runtime_error{"rank " + std::to_string(rank) + " has not the data, order or " +
                               "batch size of rank 0"};
}
// [/agree]

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
