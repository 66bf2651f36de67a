#pragma once

#include <feedline/backend/device.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace feedline::detail {

/// Requests memory that comes and goes while the pipeline works.
struct short_lived_t {};
inline constexpr short_lived_t short_lived{};

/// A block of a device's memory. Move-only; keeps the device alive.
class device_memory {
 public:
  device_memory() noexcept : memory_{nullptr, free_on{}} {}
  device_memory(const device_ptr& device, memory_kind kind, std::size_t bytes)
      : memory_{static_cast<std::byte*>(device->allocate(kind, bytes)),
                free_on{device, kind, bytes, false}} {}
  device_memory(const device_ptr& device, memory_kind kind, std::size_t bytes, short_lived_t)
      : memory_{static_cast<std::byte*>(device->allocate_short_lived(kind, bytes)),
                free_on{device, kind, bytes, true}} {}

  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.get_deleter().bytes; }
  [[nodiscard]] memory_kind kind() const noexcept { return memory_.get_deleter().kind; }
  /// Releases the memory without freeing it, for good.
  void leak() noexcept { (void)memory_.release(); }

 private:
  struct free_on {
    device_ptr device;
    memory_kind kind;
    std::size_t bytes;
    bool is_short_lived;
    void operator()(std::byte* memory) const noexcept {
      is_short_lived ? device->free_short_lived(kind, memory, bytes)
                     : device->free(kind, memory, bytes);
    }
  };
  std::unique_ptr<std::byte, free_on> memory_;
};

/// Host memory that a device's work can read. Move-only; keeps the device alive, but not the
/// memory.
class mapped_memory {
 public:
  /// @param memory Not empty; outlives this.
  mapped_memory(const device_ptr& device, std::span<const std::byte> memory)
      : address_{device->map(memory), unmap_on{device, memory}} {}

  /// The address at which the device reads it.
  [[nodiscard]] const std::byte* address() const noexcept { return address_.get(); }
  /// Releases the memory without ending the mapping, for good.
  void leak() noexcept { (void)address_.release(); }

 private:
  struct unmap_on {
    device_ptr device;
    std::span<const std::byte> memory;
    void operator()(const std::byte*) const noexcept { device->unmap(memory); }
  };
  std::unique_ptr<const std::byte, unmap_on> address_;
};

/// Requests an event with a time.
struct with_time_t {};
inline constexpr with_time_t with_time{};

/// An event of a device. Move-only; keeps the device alive.
class event {
 public:
  explicit event(device_ptr device) : device_{std::move(device)}, handle_{device_->make_event()} {}
  event(device_ptr device, with_time_t)
      : device_{std::move(device)}, handle_{device_->make_timed_event()} {}
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

/// Requests a stream of high priority.
struct high_priority_t {};
inline constexpr high_priority_t high_priority{};

/// A stream that belongs to the pipeline. Keeps the device alive.
class stream {
 public:
  explicit stream(device_ptr device)
      : device_{std::move(device)}, handle_{device_->make_stream()} {}
  stream(device_ptr device, high_priority_t)
      : device_{std::move(device)}, handle_{device_->make_high_priority_stream()} {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { device_->destroy_stream(handle_); }

  [[nodiscard]] stream_ref get() const noexcept { return handle_; }

 private:
  device_ptr device_;
  stream_ref handle_;
};

}  // namespace feedline::detail
