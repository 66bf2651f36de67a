#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>

#include "device/assemble_on_host.hpp"
#include "device/host_memory.hpp"
#include "device/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

std::align_val_t page() noexcept {
  static const std::align_val_t bytes{static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
  return bytes;
}

/// Memory of this size and more has its own mapping, so that it goes back to the system when it is
/// freed.
constexpr std::size_t mapped_bytes = std::size_t{1} << 20;

/// Null: there is none.
void* allocate_pages(std::size_t bytes) noexcept {
  if (bytes < mapped_bytes) return ::operator new(bytes, page(), std::nothrow);
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

/// Events are done as soon as they are recorded, since copies complete at once: all events without
/// a time share one handle.
constexpr event_handle always_done{1};

/// The object that the handle of an event with a time points to: when it was recorded.
using time_noted = std::atomic<std::chrono::steady_clock::time_point>;

time_noted* noted(event_handle event) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was one
  return event == always_done ? nullptr : reinterpret_cast<time_noted*>(event);
}

class host_device final : public device {
 public:
  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "host", .reads_staging = true, .id = {.kind = device_kind::host}};
  }

  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    const bool shared = kind == memory_kind::staging && detail::shared_staging::is_wanted();
    void* memory = shared ? detail::allocate_shared(bytes) : allocate_pages(bytes);
    if (memory == nullptr) {
      throw out_of_memory{bytes, kind,
                          "the host has no " + std::to_string(bytes) + " bytes for " +
                              std::string{to_string(kind)} +
                              " memory: lower batches_per_slot or the number of slots"};
    }
    if (!shared) std::memset(memory, 0, bytes);
    return memory;
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    if (memory == nullptr || (kind == memory_kind::staging && detail::free_shared(memory))) return;
    bytes < mapped_bytes ? ::operator delete(memory, page()) : (void)::munmap(memory, bytes);
  }
  [[nodiscard]] std::optional<std::size_t> free_bytes(memory_kind) override {
    return detail::free_host_bytes();
  }

  [[nodiscard]] stream_ref make_stream() override { return {}; }
  void destroy_stream(stream_ref) noexcept override {}
  [[nodiscard]] event_handle make_event() override { return always_done; }
  void destroy_event(event_handle event) noexcept override { delete noted(event); }

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
  void record(event_handle event, stream_ref) override {
    if (auto* const time = noted(event)) time->store(std::chrono::steady_clock::now());
  }
  void wait(stream_ref, event_handle) override {}
  [[nodiscard]] bool is_done(event_handle) override { return true; }
  void sync(event_handle) override {}

  [[nodiscard]] bool tells_times() const noexcept override { return true; }
  [[nodiscard]] event_handle make_timed_event() override {
    return event_handle{reinterpret_cast<std::uintptr_t>(new time_noted{})};
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override {
    return noted(end)->load() - noted(begin)->load();
  }

  void check(stream_ref stream) const override {
    if (stream)
      throw usage_error{"the host device has no streams: name none, as in loader.epoch(n)"};
  }
};

}  // namespace

device_ptr make_host_device() {
  return std::make_shared<host_device>();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
