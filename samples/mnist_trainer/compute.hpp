#pragma once

#include <feedline/device/device.hpp>
#include <feedline/device/stream_ref.hpp>

#include "batch_checksum.hpp"
#include "network.hpp"
#include "wait_meter.hpp"

#include <memory>
#include <string>

namespace mnist {

/// All of the trainer that depends on where it computes. Outlives the loaders that feed it, and the
/// batches taken on its stream.
struct compute {
  std::string name;             ///< "cpu", "cuda:0"
  feedline::device_ptr device;  ///< what the loader delivers to
  feedline::stream_ref stream;  ///< where batches are taken; none on the CPU
  std::unique_ptr<network> model;
  std::unique_ptr<wait_meter> waiting;
  std::unique_ptr<batch_checksum> checksum;
};

[[nodiscard]] compute make_cpu_compute(const network_options& options);

/// @throws feedline::usage_error if there is no such GPU, or the trainer was built without CUDA.
[[nodiscard]] compute make_cuda_compute(int ordinal, const network_options& options);

/// GPUs that can be used: 0 without a GPU, a driver, or a CUDA build.
[[nodiscard]] int usable_gpus() noexcept;

}  // namespace mnist
