/// Batches whose images differ in size from batch to batch: on a GPU the same as on the host.

#include <feedline/cuda/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "cuda/check.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/device_contract.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Images of 1 × 3 to 40 × 67 pixels, three channels.
class sized_images final : public dataset {
 public:
  class drawn final : public batch_sizes {
   public:
    image_size largest() const override { return {40, 67}; }
    bool depends_on_samples() const override { return false; }
    image_size of(const sized_batch& batch) const override {
      sample_random random{batch.seed, batch.epoch, batch.number};
      return {static_cast<std::uint32_t>(1 + random.below(40)),
              static_cast<std::uint32_t>(3 + random.below(65))};
    }
  };

  std::uint64_t size() const override { return 700; }
  std::vector<field> fields() const override {
    return {{"id", element_type::u64},
            {.name = "image",
             .type = element_type::u8,
             .shape = {40, 67, 3},
             .by_batch = size_by_batch{.layout = image_layout::hwc}}};
  }
  bool varies_by_epoch() const override { return true; }
  batch_sizes_ptr sizes() const override { return std::make_shared<const drawn>(); }

 private:
  void do_read(const read_request& request) const override {
    const std::size_t bytes = sample_bytes(fields()[1], request.context.size());
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t sample = request.samples[i].value;
      std::memcpy(request.out[0].data() + i * sizeof sample, &sample, sizeof sample);
      for (std::size_t at = 0; at < bytes; ++at)
        request.out[1][i * bytes + at] = static_cast<std::byte>(sample * 31 + at * 7 + at / 11);
    }
  }
};

struct seen_image {
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;
  friend bool operator==(const seen_image&, const seen_image&) = default;
};

std::vector<seen_image> seen_on(const device_ptr& device, std::optional<stream_ref> stream,
                                const loader_options& options) {
  loader loading{std::make_shared<const sized_images>(), shuffle{.seed = 4}, device, options};
  std::vector<seen_image> all;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    auto range = stream ? loading.epoch(epoch, *stream) : loading.epoch(epoch);
    for (const batch& each : range) {
      const tensor_view image = each["image"];
      seen_image& seen =
          all.emplace_back(seen_image{image.shape(), std::vector<std::byte>(image.bytes().size())});
      if (stream) {
        const auto on = static_cast<cudaStream_t>(stream->get());
        FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(seen.bytes.data(), image.bytes().data(),
                                            seen.bytes.size(), cudaMemcpyDeviceToHost, on));
        FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(on));
      } else {
        std::memcpy(seen.bytes.data(), image.bytes().data(), seen.bytes.size());
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("cuda: batches of images of different sizes are the host's", "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  using enum image_layout;
  std::vector<std::vector<field_transform>> kinds{{}};
  kinds.push_back({{.field = "image", .scale = 1 / 255.0, .layout = hwc, .flip = 0.5}});
  kinds.push_back({{.field = "image",
                    .to = element_type::f16,
                    .scale = 1 / 255.0,
                    .mean = {0.4, 0.5, 0.6},
                    .stddev = {0.2, 0.25, 0.3},
                    .layout = hwc,
                    .to_layout = chw,
                    .flip = 0.5}});
  for (const auto& transforms : kinds)
    for (const std::uint64_t batches_per_slot : {std::uint64_t{0}, std::uint64_t{3}})
      for (const std::size_t piece_bytes : {std::size_t{0}, std::size_t{20'000}}) {
        if (batches_per_slot != 0 && piece_bytes != 0) continue;
        CAPTURE(transforms.size(), batches_per_slot, piece_bytes);
        const loader_options options{
            .batch_size = 17,
            .readers = 3,
            .transforms = transforms,
            .seed = 6,
            .expert = {.batches_per_slot = batches_per_slot, .piece_bytes = piece_bytes}};
        CHECK((seen_on(make_cuda_device(0), stream.ref(), options) ==
               seen_on(make_host_device(), std::nullopt, options)));
      }
}
