#pragma once

#include "cuda/decode/decoders.hpp"
#include "support/devices/wrapped_device.hpp"

#include <memory>
#include <string>
#include <utility>

namespace feedline::bench {

/// A GPU whose JPEG files kernels decode, whether it has engines or not.
class kernel_decoding final : public test::wrapped_device {
 public:
  /// @param real A CUDA device. @param ordinal Its number.
  kernel_decoding(device_ptr real, int ordinal)
      : wrapped_device{std::move(real)},
        decodes_{detail::make_cuda_block_decoders(ordinal, "cuda:" + std::to_string(ordinal),
                                                  detail::jpeg_way::kernels)} {}

  [[nodiscard]] device_capabilities capabilities() const override {
    device_capabilities found = wrapped_device::capabilities();
    found.decodes = decodes_;
    return found;
  }

 private:
  std::shared_ptr<const block_decoders> decodes_;
};

}  // namespace feedline::bench
