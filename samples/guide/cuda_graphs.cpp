// The code that docs/guide/interop.md shows.

// [includes]
#include <feedline/cuda/graphs/step_graphs.hpp>
#include <feedline/feedline.hpp>

#include <cstdint>
// [/includes]

#include "training.hpp"

void train(feedline::loader& loader, std::uint64_t epochs, cudaStream_t cuda_stream) {
  // [steps]
  const feedline::stream_ref stream{cuda_stream};
  feedline::step_graphs steps{stream};

  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const feedline::batch& batch : loader.epoch(epoch, stream)) {
      steps.run(batch, [&] {
        train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
                   batch.size(), cuda_stream);
      });
    }
  }
  // [/steps]
}
