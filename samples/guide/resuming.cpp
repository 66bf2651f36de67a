// The code that docs/guide/resuming.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
// [/includes]

#include "training.hpp"

// [saving]
void save(const feedline::loader& loader, const std::string& path) {
  // Your weights and the optimizer's state belong in the same checkpoint.
  std::ofstream{path + ".new"} << to_json(loader.state());
  std::rename((path + ".new").c_str(), path.c_str());  // the file is always a whole one
}
// [/saving]

void resume(feedline::loader& loader, std::uint64_t epochs, cudaStream_t stream) {
  const std::string path = "checkpoint.json";
  // [resuming]
  std::uint64_t first_epoch = 0;
  if (std::ifstream file{path}; file) {
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto state = feedline::loader_state::from_json(text);
    loader.seek(state);
    first_epoch = state.epoch;
  }
  for (std::uint64_t epoch = first_epoch; epoch < epochs; ++epoch) {
    for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{stream})) {
      train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
                 batch.size(), stream);
      if (batch.index() % 1000 == 999) save(loader, path);
    }
  }
  // [/resuming]
}
