#pragma once

#include <feedline/cuda/device.hpp>
#include <feedline/cuda/half.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/libtorch/trainer.hpp"
#include "bench/support/shapes.hpp"

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

namespace feedline::bench {

/// Means of images' channels, on a scale of 0 to 1.
inline const std::vector<double> channel_means{0.485, 0.456, 0.406};
inline const std::vector<double> channel_deviations{0.229, 0.224, 0.225};

/// Where a loop takes its batches from.
class feed {
 public:
  feed() = default;
  feed(const feed&) = delete;
  feed& operator=(const feed&) = delete;
  virtual ~feed() = default;

  /// Issues a step on the next batch, on the current stream.
  virtual void step(trainer& network) = 0;

  /// Batches that may lie ready when its turn begins, at most.
  [[nodiscard]] virtual int ahead() const = 0;
};

/// One batch, normalized before.
class fixed_batch final : public feed {
 public:
  explicit fixed_batch(const shape& shape) {
    torch::manual_seed(2);
    const torch::TensorOptions on_gpu{torch::kCUDA};
    std::vector<std::int64_t> extents{static_cast<std::int64_t>(shape.batch_size)};
    for (const auto extent : shape.row) extents.push_back(static_cast<std::int64_t>(extent));
    images_ = torch::randint(0, 256, extents, on_gpu.dtype(torch::kFloat32))
                  .div_(255)
                  .sub_(torch::tensor(channel_means, on_gpu.dtype(torch::kFloat32)))
                  .div_(torch::tensor(channel_deviations, on_gpu.dtype(torch::kFloat32)))
                  .to(torch::kBFloat16)
                  .permute({0, 3, 1, 2});
    labels_ = torch::randint(0, 10, extents.front(), on_gpu.dtype(torch::kInt64));
  }

  void step(trainer& network) override { network.step(images_, labels_); }
  [[nodiscard]] int ahead() const override { return 0; }

 private:
  torch::Tensor images_;
  torch::Tensor labels_;
};

/// Options of a loader for bytes of images and labels: it makes normalized bf16, and labels that
/// are wide enough for libtorch.
inline loader_options training_options(std::uint64_t batch_size, int readers, double flip) {
  const field_transform normalized{.field = "image",
                                   .to = element_type::bf16,
                                   .scale = 1.0 / 255,
                                   .mean = channel_means,
                                   .stddev = channel_deviations,
                                   .layout = image_layout::hwc,
                                   .flip = flip};
  return {.batch_size = batch_size,
          .partial_batch = partial_batch::drop,
          .epochs = UINT64_MAX,
          .readers = readers,
          .transforms = {normalized, {.field = "label", .to = element_type::i64}}};
}

/// The batches of a loader, epoch after epoch.
class loader_feed final : public feed {
 public:
  /// @param options With `training_options` to begin with.
  loader_feed(const dataset_ptr& data, device_ptr device, const loader_options& options)
      : loader_{data, shuffle{.seed = 1}, std::move(device), options}, row_bytes_{0} {
    for (const field& each : data->fields()) row_bytes_ += feedline::sample_bytes(each);
  }

  [[nodiscard]] const loader_plan& plan() const { return loader_.plan(); }

  void step(trainer& network) override {
    optional_batch batch = next();
    const tensor_view images = (*batch)["image"];
    const auto count = static_cast<std::int64_t>(batch->size());
    const auto height = static_cast<std::int64_t>(images.shape()[1]);
    const auto width = static_cast<std::int64_t>(images.shape()[2]);
    const torch::Device gpu{torch::kCUDA, 0};
    // The rows lie as height, width, channels: what libtorch calls channels last.
    network.step(torch::from_blob(images.mutable_data<__nv_bfloat16>(), {count, 3, height, width},
                                  {height * width * 3, 1, width * 3, 3},
                                  torch::TensorOptions{gpu}.dtype(torch::kBFloat16)),
                 torch::from_blob((*batch)["label"].mutable_data<std::int64_t>(), {count},
                                  torch::TensorOptions{gpu}.dtype(torch::kInt64)));
  }  // the step has been issued: the batch goes back

  [[nodiscard]] int ahead() const override {
    const loader_plan& plan = loader_.plan();
    const std::uint64_t decoded = plan.decode_on == decode_on::device
                                      ? plan.cache_bytes / (row_bytes_ * plan.batch_size)
                                      : 0;  // images that wait for their batch
    return static_cast<int>((plan.staging_slots + plan.device_slots) * plan.batches_per_slot +
                            decoded);
  }

 private:
  optional_batch next() {
    if (epoch_) {
      if (optional_batch batch = epoch_->next()) return batch;
    }
    const stream_ref stream{c10::cuda::getCurrentCUDAStream().stream()};
    epoch_ = loader_.epoch(number_++, stream);
    return epoch_->next();
  }

  loader loader_;
  std::size_t row_bytes_;  ///< size of a sample in the dataset
  std::optional<epoch_range> epoch_;
  std::uint64_t number_ = 0;
};

}  // namespace feedline::bench
