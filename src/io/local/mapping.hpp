#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// A whole file's bytes in memory, guarded: bytes that the file has lost read as zeros, where they
/// would be a SIGBUS else. Any number of threads.
///
/// The first mapping of a process installs a handler. It handles only faults within such mappings:
/// then the whole mapping becomes zeros, and is marked as lost. Every other SIGBUS goes to the
/// handler that was installed before. Another copy of feedline in the process installs a handler as
/// well, and passes signals on to this one. Any other handler that is installed later takes this
/// one out of use, even if it passes on signals, because that cannot be seen from here.
/// `handler_in_use` tells, and also tells when that handler is removed.
///
/// A shared library that contains this code stays loaded from the first mapping on, even if it is
/// closed: the handler stays.
class file_mapping {
 public:
  /// Nothing where the file is empty or cannot be mapped, or there can be no guard: too many
  /// mappings, or the system refuses a handler.
  [[nodiscard]] static std::unique_ptr<const file_mapping> of(int descriptor,
                                                              std::uint64_t bytes) noexcept;
  file_mapping(const file_mapping&) = delete;
  file_mapping& operator=(const file_mapping&) = delete;
  ~file_mapping();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Whether some of the bytes were replaced by zeros.
  [[nodiscard]] bool lost() const noexcept;

  /// Whether a SIGBUS is sure to reach the handler: it comes first, or after handlers of other
  /// copies of feedline only. Takes about a tenth of a microsecond.
  [[nodiscard]] static bool handler_in_use() noexcept;

 private:
  file_mapping(std::span<const std::byte> bytes, std::size_t guard) noexcept
      : bytes_{bytes}, guard_{guard} {}

  std::span<const std::byte> bytes_;
  std::size_t guard_;  ///< index in the handler's table
};

}  // namespace feedline::detail
