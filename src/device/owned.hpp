#pragma once

#include <feedline/device/device.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace feedline::detail {

/// A block of a device's memory. Move-only; keeps the device alive.
class device_memory {
 public:
  device_memory() = default;
  device_memory(device_ptr device, memory_kind kind, std::size_t bytes)
      : device_{std::move(device)},
        kind_{kind},
        bytes_{bytes},
        data_{device_->allocate(kind, bytes)} {}
  device_memory(device_memory&& other) noexcept
      : device_{std::move(other.device_)},
        kind_{other.kind_},
        bytes_{std::exchange(other.bytes_, 0)},
        data_{std::exchange(other.data_, nullptr)} {}
  device_memory& operator=(device_memory&& other) noexcept {
    device_memory taken{std::move(other)};
    std::swap(device_, taken.device_);
    std::swap(kind_, taken.kind_);
    std::swap(bytes_, taken.bytes_);
    std::swap(data_, taken.data_);
    return *this;
  }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  ~device_memory() {
    if (data_ != nullptr) device_->free(kind_, data_, bytes_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] memory_kind kind() const noexcept { return kind_; }
  /// Lets go of it without freeing it, for good.
  void leak() noexcept { data_ = nullptr; }

 private:
  device_ptr device_;
  memory_kind kind_ = memory_kind::staging;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

/// Host memory that a device's work can read. Move-only; keeps the device alive, not the memory.
class mapped_memory {
 public:
  /// @param memory Not empty; outlives this.
  mapped_memory(device_ptr device, std::span<const std::byte> memory)
      : device_{std::move(device)}, memory_{memory}, address_{device_->map(memory)} {}
  mapped_memory(mapped_memory&& other) noexcept = default;
  mapped_memory& operator=(mapped_memory&&) = delete;
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;
  ~mapped_memory() {
    if (device_) device_->unmap(memory_);
  }

  /// Where the device reads it.
  [[nodiscard]] const std::byte* address() const noexcept { return address_; }
  /// Lets go of it without ending the mapping, for good.
  void leak() noexcept { device_.reset(); }

 private:
  device_ptr device_;
  std::span<const std::byte> memory_;
  const std::byte* address_;
};

/// An event of a device. Move-only; keeps the device alive.
class event {
 public:
  explicit event(device_ptr device) : device_{std::move(device)}, handle_{device_->make_event()} {}
  event(event&& other) noexcept
      : device_{std::move(other.device_)},
        handle_{std::exchange(other.handle_, event_handle::none)} {}
  event& operator=(event&&) = delete;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() {
    if (handle_ != event_handle::none) device_->destroy_event(handle_);
  }

  [[nodiscard]] event_handle get() const noexcept { return handle_; }

 private:
  device_ptr device_;
  event_handle handle_;
};

/// A stream of the pipeline's own. Keeps the device alive.
class stream {
 public:
  explicit stream(device_ptr device)
      : device_{std::move(device)}, handle_{device_->make_stream()} {}
  stream(stream&&) = delete;
  stream& operator=(stream&&) = delete;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { device_->destroy_stream(handle_); }

  [[nodiscard]] stream_ref get() const noexcept { return handle_; }

 private:
  device_ptr device_;
  stream_ref handle_;
};

}  // namespace feedline::detail
