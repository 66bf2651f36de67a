/// Loaders on a GPU that mix samples: the host's batches, bit for bit.

#include <feedline/cuda/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "cuda/check.hpp"
#include "gpu/gpu_stream.hpp"
#include "pipeline/mixing/mixed_images.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Fields of batches, one after the other. @param stream The consumer's; none on the host.
std::vector<std::byte> deliver(const device_ptr& device, cudaStream_t stream,
                               const loader_options& options) {
  const auto data = mixed_images::make();
  loader loader{data, shuffle{.seed = 5}, device, options};
  std::vector<std::byte> seen;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (batch& batch :
         loader.epoch(epoch, stream == nullptr ? stream_ref{} : stream_ref{stream})) {
      for (const char* const name : {"id", "image", "label"}) {
        const auto bytes = batch[name].bytes();
        const std::size_t at = seen.size();
        seen.resize(at + bytes.size());
        if (stream == nullptr) {
          std::copy(bytes.begin(), bytes.end(), seen.begin() + static_cast<std::ptrdiff_t>(at));
          continue;
        }
        FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(seen.data() + at, bytes.data(), bytes.size(),
                                            cudaMemcpyDeviceToHost, stream));
        FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
      }
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("cuda: mixed batches are the host's, wherever rows are and however they are cut",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  const auto where =
      GENERATE(placement::stream, placement::gather, placement::resident, placement::cached);
  const std::uint64_t batch_size = GENERATE(7U, 8U, 45U);
  const std::size_t piece_samples = GENERATE(0U, 3U);
  const auto to = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  const auto draws = GENERATE(mixing_draws::batch, mixing_draws::pair, mixing_draws::sample);
  CAPTURE(to_string(where), batch_size, piece_samples, to_string(to), to_string(draws));
  loader_options options = mixed_images::mixed(batch_size, 0, draws);
  for (field_transform& each : options.transforms) each.to = to;
  options.transforms[0].flip = 0.5;
  const auto expected = deliver(make_host_device(), nullptr, options);
  options.readers = 2;
  options.placement = where;
  options.expert.piece_bytes = piece_samples * mixed_images::row_bytes;
  if (where == placement::cached) options.memory.cache = 20 * mixed_images::row_bytes + 4096;
  CHECK((deliver(make_cuda_device(0), stream.get(), options) == expected));
}
