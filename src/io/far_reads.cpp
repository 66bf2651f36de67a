#include "io/far_reads.hpp"

#include <atomic>
#include <utility>

namespace feedline::detail {
namespace {

thread_local constinit std::uint64_t this_loader = 0;
thread_local constinit std::uint64_t this_pass = 0;
thread_local constinit std::chrono::nanoseconds waited{0};
constinit std::atomic<std::uint64_t> last_loader{0};
constinit std::atomic<std::uint64_t> last_pass{0};
constinit std::atomic<pass_listener*> of_passes{nullptr};
constinit std::atomic<std::uint64_t> hint_bytes{0};
constinit std::atomic<bool> are_requests{false};

}  // namespace

std::uint64_t reading_for() noexcept {
  return this_loader;
}

reads_for_loader::reads_for_loader(std::uint64_t loader) noexcept
    : before_{std::exchange(this_loader, loader)} {}

reads_for_loader::~reads_for_loader() {
  this_loader = before_;
}

std::uint64_t next_loader() noexcept {
  return last_loader.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t reading_pass() noexcept {
  return this_pass;
}

reads_for_pass::reads_for_pass(std::uint64_t pass) noexcept
    : before_{std::exchange(this_pass, pass)} {}

reads_for_pass::~reads_for_pass() {
  this_pass = before_;
}

std::uint64_t next_pass() noexcept {
  return last_pass.fetch_add(1, std::memory_order_relaxed) + 1;
}

pass_listener* pass_listener::of_process() noexcept {
  return of_passes.load(std::memory_order_acquire);
}

void pass_listener::set(pass_listener* listener) noexcept {
  of_passes.store(listener, std::memory_order_release);
}

std::chrono::nanoseconds waited_for_network() noexcept {
  return waited;
}

void add_network_wait(std::chrono::nanoseconds time) noexcept {
  waited += time;
}

std::uint64_t far_hint_bytes() noexcept {
  return hint_bytes.load(std::memory_order_relaxed);
}

void set_far_hint_bytes(std::uint64_t bytes) noexcept {
  hint_bytes.store(bytes, std::memory_order_relaxed);
}

bool hints_are_requests() noexcept {
  return are_requests.load(std::memory_order_relaxed);
}

void set_hints_are_requests() noexcept {
  are_requests.store(true, std::memory_order_relaxed);
}

}  // namespace feedline::detail
