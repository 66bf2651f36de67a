#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace feedline::test {

/// Threads that this process has now.
[[nodiscard]] inline std::size_t thread_count() {
  const std::filesystem::directory_iterator all{"/proc/self/task"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Descriptors that are open now; the one that looks is among them.
[[nodiscard]] inline std::size_t descriptor_count() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace feedline::test
