#pragma once

#include <memory>

namespace feedline::detail {

/// Owns memory that a device may still use when nobody wants it any more.
class retirable {
 public:
  retirable() = default;
  retirable(const retirable&) = delete;
  retirable& operator=(const retirable&) = delete;
  virtual ~retirable() = default;

  /// Whether nothing that was issued uses the memory any more; never blocks. @throws device_error.
  [[nodiscard]] virtual bool is_idle() = 0;
};

/// Destroys something once it is idle. Waits for that for a second at most: the consumer's work may
/// itself be waiting for this thread. After that it is set aside, with a warning.
void retire(std::unique_ptr<retirable> what) noexcept;

/// Destroys what was set aside and is idle by now: whenever a loader or
/// result ring is made or goes away. What is
/// not idle at the program's end is left to the system. A child of fork frees nothing of its
/// parent's. Any thread.
void free_retired() noexcept;

}  // namespace feedline::detail
