// The code that docs/guide/ragged.md shows.

// [includes]
#include <feedline/feedline.hpp>
// [/includes]

feedline::loader padded(const feedline::device_ptr& gpu) {
  // [padded]
  // Sample i is the rows offsets[i] to offsets[i + 1] - 1 of the values.
  auto tokens = feedline::make_ragged_dataset(feedline::open_npy("tokens.npy", "token"),
                                              feedline::open_npy("offsets.npy", "offset"));
  auto rows = feedline::pad(tokens, {.length = 2048, .longer = feedline::pad_longer::truncate});
  feedline::loader loader{
      rows, feedline::bucket_by_length{*tokens, {.seed = 42}}, gpu, {.batch_size = 64}};
  // [/padded]
  return loader;
}

feedline::loader packed(const feedline::ragged_dataset_ptr& tokens,
                        const feedline::device_ptr& gpu) {
  // [packed]
  auto rows = feedline::pack(tokens, {.capacity = 4096, .longer = feedline::pack_longer::split});
  feedline::loader loader{rows, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 8}};
  // [/packed]
  return loader;
}

feedline::loader packed_together(const feedline::ragged_dataset_ptr& tokens,
                                 const feedline::ragged_dataset_ptr& labels,
                                 const feedline::device_ptr& gpu) {
  // [packed_together]
  auto rows = feedline::pack_together({tokens, labels}, {.capacity = {4096},
                                                         .seed = 42,
                                                         .longer = feedline::pack_longer::split,
                                                         .positions = true,
                                                         .mask = feedline::packed_mask::followed});
  // Batches of rows of similar cost, so that ranks take equally long.
  feedline::bucket_by_length order{feedline::packing_costs(*rows), {.seed = 42, .buckets = 64}};
  feedline::loader loader{rows, order, gpu, {.batch_size = 8}};
  // [/packed_together]
  return loader;
}
