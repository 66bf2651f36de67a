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
