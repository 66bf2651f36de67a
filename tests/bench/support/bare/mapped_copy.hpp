#pragma once

#include <feedline/backend/device.hpp>

#include "detail/arithmetic.hpp"
#include "device/owned.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace feedline::bench {

/// A copy of host bytes on whole pages of its own, which a device reads over the bus as it reads an
/// array that a loader gathers.
class mapped_copy {
 public:
  mapped_copy(const device_ptr& device, std::span<const std::byte> bytes)
      : page_{std::max<std::size_t>(device->capabilities().map_granularity, 64)},
        size_{detail::round_up(bytes.size(), page_)},
        memory_{static_cast<std::byte*>(std::aligned_alloc(page_, size_))} {
    if (memory_ == nullptr) throw std::bad_alloc{};
    std::ranges::copy(bytes, memory_.get());
    mapped_ = std::make_unique<detail::mapped_memory>(device, std::span{memory_.get(), size_});
  }

  [[nodiscard]] const std::byte* data() const { return mapped_->address(); }

 private:
  struct free_memory {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  std::size_t page_;
  std::size_t size_;
  std::unique_ptr<std::byte, free_memory> memory_;
  std::unique_ptr<detail::mapped_memory> mapped_;
};

}  // namespace feedline::bench
