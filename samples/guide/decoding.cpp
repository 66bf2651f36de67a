// The code that docs/guide/decoding.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/hdf5/dataset.hpp>

#include <cstdio>
// [/includes]

#include <string>

feedline::loader decode_on_device(const std::string& path, const feedline::device_ptr& device) {
  // [loader]
  feedline::loader loader{feedline::open_hdf5(path, {{"image"}, {"label"}}),
                          feedline::shuffle{.seed = 42, .within = feedline::chunks(64)},
                          device,
                          {.batch_size = 256, .decode_on = feedline::decode_on::device}};
  if (!loader.plan().decode_note.empty())
    std::printf("readers decode all or a part: %s\n", loader.plan().decode_note.c_str());
  // [/loader]
  return loader;
}
