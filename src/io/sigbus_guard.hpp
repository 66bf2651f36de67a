#pragma once

#include <cstddef>
#include <optional>
#include <utility>

namespace feedline::detail {

/// Watches over a file's mapping: bytes that the file has lost read as zeros, where they would be a
/// SIGBUS else.
///
/// The first guard of a process installs a handler. It acts on faults within guarded mappings only:
/// all of that mapping becomes zeros, and is marked as lost. Every other SIGBUS goes to whoever
/// handled it before. Another copy of feedline in the process installs a handler as well, and
/// passes on to this one. Any other handler that is installed later takes this one out of use,
/// even if it passes on what it does not know: that cannot be seen from here. `in_use` tells, and
/// tells when that handler is gone again.
///
/// Threads: a guard is made and ended by any; while one exists, all may read the bytes and ask. The
/// code must stay loaded: a shared library that contains it must not be closed.
class sigbus_guard {
 public:
  /// @param begin,bytes A mapping of a file, from a page's start, read only.
  /// @return Nothing if there can be no guard: too many mappings, or the system refuses a handler.
  [[nodiscard]] static std::optional<sigbus_guard> over(const std::byte* begin,
                                                        std::size_t bytes) noexcept;
  sigbus_guard(sigbus_guard&& other) noexcept : place_{std::exchange(other.place_, none)} {}
  sigbus_guard& operator=(sigbus_guard&&) = delete;
  /// End it before the mapping: its place in memory may become somebody else's.
  ~sigbus_guard();

  /// Whether bytes were replaced by zeros.
  [[nodiscard]] bool lost() const noexcept;

  /// Whether a SIGBUS surely reaches the handler: it stands first, or behind those of other copies
  /// of feedline alone. About a tenth of a microsecond.
  [[nodiscard]] static bool in_use() noexcept;

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  explicit sigbus_guard(std::size_t place) noexcept : place_{place} {}

  std::size_t place_;
};

}  // namespace feedline::detail
