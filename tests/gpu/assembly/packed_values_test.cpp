/// Positions, documents and masks of packed rows that the GPU makes from their offsets, against
/// those that readers make.

#include <feedline/cuda/device.hpp>

#include "cuda/check.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/packed_values_check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::vector<std::byte> read_gpu(const tensor_view& of, cudaStream_t stream) {
  const auto bytes = of.bytes();
  std::vector<std::byte> seen(bytes.size());
  FEEDLINE_CUDA_CHECK(
      cudaMemcpyAsync(seen.data(), bytes.data(), bytes.size(), cudaMemcpyDeviceToHost, stream));
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  return seen;
}

}  // namespace

TEST_CASE("packed values: the GPU makes what readers make", "[packing][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  check_packed_values({make_cuda_device(0), stream.ref(),
                       [&](const tensor_view& of) { return read_gpu(of, stream.get()); }});
}

TEST_CASE("packed values: the GPU makes long rows of many samples", "[packing][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  check_made_as_by_readers({make_cuda_device(0), stream.ref(),
                            [&](const tensor_view& of) { return read_gpu(of, stream.get()); }},
                           packed_rows(20'011, packed_mask::followed, 40'000),
                           {.batch_size = 3, .readers = 4});
}
