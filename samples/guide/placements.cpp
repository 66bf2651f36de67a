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

std::uint64_t count_ids(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu,
                        feedline::stream_ref stream) {
  std::uint64_t sum = 0;
  // [keep_on_host]
  feedline::loader loader{
      train,
      feedline::shuffle{.seed = 42},
      gpu,
      {.batch_size = 256,
       .keep_on_host = {{.name = "id"}, {.name = "label", .on_device_too = true}}}};
  for (const feedline::batch& batch : loader.epoch(0, stream)) {
    const auto ids = batch["id"].values<std::uint64_t>();               // on the host alone
    const auto labels = batch.on_host("label").values<std::int32_t>();  // on the GPU too
    for (std::size_t i = 0; i < ids.size(); ++i) sum += labels[i] == 0 ? 0 : ids[i];
  }
  // [/keep_on_host]
  return sum;
}
