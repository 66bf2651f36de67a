// The code that README.md shows, compiled and not run. That of docs/guide is in guide/. The lines
// between `// [name]` and `// [/name]` are copied there. A test compares them; this command copies
// them again:
//
//     cmake -D SOURCE=. -D UPDATE=ON -P tests/conventions/readme.cmake

#include "guide/training.hpp"

// [ten_lines]
#include <feedline/cuda/device.hpp>
#include <feedline/feedline.hpp>

#include <cstdint>

void train(cudaStream_t stream) {
  auto digits = feedline::open_idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
  feedline::loader loader{digits,
                          feedline::shuffle{.seed = 42},
                          feedline::make_cuda_device(0),
                          {.batch_size = 256, .epochs = 10}};
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch)
    for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{stream}))
      train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
                 batch.size(), stream);
}
// [/ten_lines]
