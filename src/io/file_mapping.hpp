#pragma once

#include "io/sigbus_guard.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// A whole file's bytes in memory, guarded: where the file is cut they read as zeros. Any number of
/// threads.
class file_mapping {
 public:
  /// Nothing where the file is empty, or cannot be mapped or guarded.
  [[nodiscard]] static std::unique_ptr<const file_mapping> of(int descriptor,
                                                              std::uint64_t bytes) noexcept;
  file_mapping(const file_mapping&) = delete;
  file_mapping& operator=(const file_mapping&) = delete;
  ~file_mapping();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Whether some of the bytes were replaced by zeros.
  [[nodiscard]] bool lost() const noexcept { return guard_ && guard_->lost(); }

 private:
  explicit file_mapping(std::span<const std::byte> bytes) noexcept;

  std::span<const std::byte> bytes_;
  std::optional<sigbus_guard> guard_;
};

}  // namespace feedline::detail
