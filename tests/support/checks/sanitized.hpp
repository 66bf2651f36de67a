#pragma once

#include <cstdint>

namespace feedline::test {

/// Whether this is a build with AddressSanitizer or ThreadSanitizer, by any compiler. Its own
/// memory and its own work count with the program's.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
inline constexpr bool thread_sanitized = true;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
inline constexpr bool thread_sanitized = false;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) != 0 || __has_feature(thread_sanitizer) != 0;
inline constexpr bool thread_sanitized = __has_feature(thread_sanitizer) != 0;
#else
inline constexpr bool sanitized = false;
inline constexpr bool thread_sanitized = false;
#endif

/// Tests that go through many cases one by one, such as the call that fails, take every eighth in a
/// build with a sanitizer: under ThreadSanitizer a loader takes twenty times as long.
inline constexpr std::uint64_t case_stride = sanitized ? 8 : 1;

/// Where such a test begins, 0 to 7, so that its rounds together take many cases.
[[nodiscard]] constexpr std::uint64_t first_case(std::uint64_t round) noexcept {
  return round % case_stride;
}

/// Chooses cases for a test that goes through all combinations of some values: all of them, or
/// every seventh in a build with a sanitizer. Seven divides no usual count of values, so that each
/// value comes with most others.
///
///     static combinations cases;  // counts on from one set of GENERATEs to the next
///     if (!cases.takes_next()) return;
class combinations {
 public:
  [[nodiscard]] bool takes_next() noexcept { return seen_++ % (sanitized ? 7 : 1) == 0; }

 private:
  std::uint64_t seen_ = 0;
};

}  // namespace feedline::test
