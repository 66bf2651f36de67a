#pragma once

#include <chrono>
#include <cstdint>

namespace feedline::detail {

// Loaders and storage of other machines tell each other of turns, waits, distances, and hints that
// are not wanted any more here, below all datasets between them.

/// The loader that the calling thread reads for, so that requests of several loaders are made in
/// turn; 0: none.
[[nodiscard]] std::uint64_t reading_for() noexcept;

/// While it lives, the calling thread reads for a loader.
class reads_for_loader {
 public:
  /// @param loader From `next_loader`.
  explicit reads_for_loader(std::uint64_t loader) noexcept;
  reads_for_loader(const reads_for_loader&) = delete;
  reads_for_loader& operator=(const reads_for_loader&) = delete;
  ~reads_for_loader();

 private:
  std::uint64_t before_;
};

/// A number for a loader, which no other one of this process has; at least 1.
[[nodiscard]] std::uint64_t next_loader() noexcept;

/// The epoch pass that the calling thread reads or hints for; 0: none. What is fetched ahead for
/// one pass is not used up by the reads of another one.
[[nodiscard]] std::uint64_t reading_pass() noexcept;

/// While it lives, the calling thread reads or hints for an epoch pass.
class reads_for_pass {
 public:
  /// @param pass From `next_pass`.
  explicit reads_for_pass(std::uint64_t pass) noexcept;
  reads_for_pass(const reads_for_pass&) = delete;
  reads_for_pass& operator=(const reads_for_pass&) = delete;
  ~reads_for_pass();

 private:
  std::uint64_t before_;
};

/// A number for an epoch pass, which no other one of this process has; at least 1.
[[nodiscard]] std::uint64_t next_pass() noexcept;

/// Is told when what was hinted for an epoch pass is not read any more. One for the process.
class pass_listener {
 public:
  pass_listener() = default;
  pass_listener(const pass_listener&) = delete;
  pass_listener& operator=(const pass_listener&) = delete;
  virtual ~pass_listener() = default;

  /// Any thread; takes no locks of loaders.
  virtual void pass_ended(std::uint64_t pass) noexcept = 0;

  /// Null if there is none.
  [[nodiscard]] static pass_listener* of_process() noexcept;
  /// @param listener Lives to the process's end.
  static void set(pass_listener* listener) noexcept;
};

/// Time that the calling thread has waited for other machines so far.
[[nodiscard]] std::chrono::nanoseconds waited_for_network() noexcept;
void add_network_wait(std::chrono::nanoseconds time) noexcept;

/// How many bytes a loader's hints should reach beyond what its readers read: as many as the rate
/// and the latency of far storage ask for. 0: no storage of this process is far.
[[nodiscard]] std::uint64_t far_hint_bytes() noexcept;
void set_far_hint_bytes(std::uint64_t bytes) noexcept;

/// Whether hints of this process become requests to other machines, which begin in the order of the
/// hints: true from the first such file on.
[[nodiscard]] bool hints_are_requests() noexcept;
void set_hints_are_requests() noexcept;

}  // namespace feedline::detail
