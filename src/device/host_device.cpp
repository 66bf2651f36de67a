#include <feedline/device/host_device.hpp>

#include "device/assemble_on_host.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace feedline {
namespace {

constexpr std::align_val_t page{4096};

/// Events are done as soon as they are recorded, since copies complete at once: one handle stands
/// for all.
constexpr event_handle always_done{1};

class host_device final : public device {
 public:
  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "host", .reads_staging = true};
  }

  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    void* memory = ::operator new(bytes, page, std::nothrow);
    if (memory == nullptr) {
      throw out_of_memory{bytes, kind,
                          "the host has no " + std::to_string(bytes) + " bytes for " +
                              std::string{to_string(kind)} +
                              " memory: lower batches_per_slot or the number of slots"};
    }
    std::memset(memory, 0, bytes);
    return memory;
  }
  void free(memory_kind, void* memory, std::size_t) noexcept override {
    ::operator delete(memory, page);
  }

  [[nodiscard]] stream_ref make_stream() override { return {}; }
  void destroy_stream(stream_ref) noexcept override {}
  [[nodiscard]] event_handle make_event() override { return always_done; }
  void destroy_event(event_handle) noexcept override {}

  void copy(void* to, const void* from, std::size_t bytes, stream_ref) override {
    std::memcpy(to, from, bytes);
  }
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref) override {
    std::memcpy(to, from, bytes);
  }
  void assemble(const assembly& work, stream_ref) override { detail::assemble_on_host(work); }
  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override {
    return memory.data();
  }
  void unmap(std::span<const std::byte>) noexcept override {}
  void record(event_handle, stream_ref) override {}
  void wait(stream_ref, event_handle) override {}
  [[nodiscard]] bool is_done(event_handle) override { return true; }
  void sync(event_handle) override {}

  void check(stream_ref stream) const override {
    if (stream)
      throw usage_error{"the host device has no streams: name none, as in loader.epoch(n)"};
  }
};

}  // namespace

device_ptr make_host_device() {
  return std::make_shared<host_device>();
}

}  // namespace feedline
