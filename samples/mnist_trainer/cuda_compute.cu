#include <feedline/cuda/device.hpp>

#include "compute.hpp"
#include "cuda_batch_checksum.cuh"
#include "cuda_network.cuh"
#include "cuda_support.cuh"
#include "cuda_wait_meter.cuh"

#include <string>

namespace mnist {

compute make_cuda_compute(int ordinal, const network_options& options) {
  compute gpu;
  gpu.name = "cuda:" + std::to_string(ordinal);
  gpu.device = feedline::make_cuda_device(ordinal);
  FEEDLINE_SAMPLE_CHECK(cudaSetDevice(ordinal));  // for this, the only thread that uses it
  const auto stream = std::make_shared<const cuda_stream>();
  gpu.stream = feedline::stream_ref{stream->get()};
  gpu.model = std::make_unique<cuda_network>(options, stream);
  gpu.waiting = std::make_unique<cuda_wait_meter>(stream);
  gpu.checksum = std::make_unique<cuda_batch_checksum>(options.inputs, stream);
  return gpu;
}

int usable_gpus() noexcept {
  return feedline::cuda_device_count();
}

}  // namespace mnist
