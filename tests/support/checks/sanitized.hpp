#pragma once

#include <cstdint>

namespace feedline::test {

/// Whether this is a build with AddressSanitizer or ThreadSanitizer, by any compiler. Its own
/// memory and its own work count with the program's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// Tests that go through many cases one by one, such as the call that fails, take every fourth in a
/// build with a sanitizer: under ThreadSanitizer a loader takes twenty times as long.
inline constexpr std::uint64_t case_stride = sanitized ? 4 : 1;

/// Where such a test begins, 0 to 3, so that its rounds together take many cases.
[[nodiscard]] constexpr std::uint64_t first_case(std::uint64_t round) noexcept {
  return round % case_stride;
}

}  // namespace feedline::test
