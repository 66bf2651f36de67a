/// Kernels beside a kernel of the user's that does not end. Where no other test has run in the
/// process: there kernels are loaded already.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "cuda/check.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_stream.hpp"
#include "pipeline/mixing/mixed_images.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("cuda kernels: none waits for a kernel of the user's, the first of its kind neither",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream held;
  const gpu_stream consumer;
  gpu_gate gate;
  const auto data = mixed_images::make();
  const loader_options rows{.batch_size = 8, .readers = 1, .placement = placement::gather};
  loader_options converted = rows;
  converted.transforms = {{.field = "image", .to = element_type::f16}};
  loader_options augmented = mixed_images::mixed(8, 1);  // and then mixed
  augmented.transforms[0].jitter = color_jitter{.brightness = 0.5};
  std::vector<loader> loaders;
  for (const loader_options& options : {rows, converted, augmented})
    loaders.emplace_back(data, shuffle{}, make_cuda_device(0), options);

  gate.hold(held.get());
  auto delivered = std::async(std::launch::async, [&] {
    std::size_t batches = 0;
    for (loader& each : loaders) {
      auto range = each.epoch(0, consumer.ref());
      if (range.next()) ++batches;
      FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(consumer.get()));
    }
    return batches;
  });
  const auto waited = delivered.wait_for(std::chrono::seconds{20});
  CHECK(cudaStreamQuery(held.get()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  gate.open();
  CHECK(delivered.get() == loaders.size());
  CHECK(waited == std::future_status::ready);
}
