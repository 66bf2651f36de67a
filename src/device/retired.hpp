#pragma once

#include <memory>

namespace feedline::detail {

/// Owner of memory that a device may still use after its user has dropped it.
class retirable {
 public:
  retirable() = default;
  retirable(const retirable&) = delete;
  retirable& operator=(const retirable&) = delete;
  virtual ~retirable() = default;

  /// Whether all issued work has finished with the memory; never blocks. @throws device_error.
  [[nodiscard]] virtual bool is_idle() = 0;
};

/// Destroys an object once it is idle. Waits for that for one second at most, because the
/// consumer's work may itself wait for this thread. After that the object is set aside, with a
/// warning.
void retire(std::unique_ptr<retirable> what) noexcept;

/// Destroys objects that were set aside and are idle by now. Called whenever a loader or result
/// ring is created or destroyed. Objects that are not idle at the program's end are left to the
/// system. A child of fork frees nothing of its parent's. Any thread may call it.
void free_retired() noexcept;

}  // namespace feedline::detail
