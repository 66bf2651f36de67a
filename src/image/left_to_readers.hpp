#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// The kind of a file that devices leave to readers, such as "a progressive JPEG".
[[nodiscard]] std::string kind_left_to_readers(std::span<const std::byte> file);

/// Counts images that devices leave to readers, and reports the 1st, 10th, 100th and so on.
/// Threads: any number at once.
class images_left_to_readers {
 public:
  /// @param kind Result of `kind_left_to_readers`.
  void add(const std::string& kind);

 private:
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace feedline::detail
