#pragma once

#include <memory>

namespace feedline::detail {

/// Owner of memory that a device may still use after its user has dropped it.
class deferred_free {
 public:
  deferred_free() = default;
  deferred_free(const deferred_free&) = delete;
  deferred_free& operator=(const deferred_free&) = delete;
  virtual ~deferred_free() = default;

  /// Whether all issued work has finished with the memory; never blocks. @throws device_error.
  [[nodiscard]] virtual bool is_idle() = 0;
};

/// Destroys an object once it is idle. Waits for that for one second at most, because the
/// consumer's work may itself wait for this thread. After that the object is set aside, with a
/// warning.
void free_when_idle(std::unique_ptr<deferred_free> what) noexcept;

/// Destroys objects that were set aside and are idle by now. Called whenever a loader or result
/// ring is created or destroyed. Objects that are not idle at the program's end are left to the
/// system. A child of fork frees nothing of its parent's. Any thread may call it.
void free_deferred() noexcept;

}  // namespace feedline::detail
