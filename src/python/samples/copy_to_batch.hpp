#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace feedline::python {

/// Copies a value to its row. A large one is written past the caches: the batch is read later, by
/// the device, and memory that is overwritten whole need not be read first.
inline void copy_to_batch(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#ifdef __SSE2__
  constexpr std::size_t least_bytes = std::size_t{64} << 10;
  constexpr std::size_t line = 64;
  if (bytes >= least_bytes) {
    const std::size_t lead = -reinterpret_cast<std::uintptr_t>(to) % line;
    std::memcpy(to, from, lead);
    to += lead;
    from += lead;
    bytes -= lead;
    for (; bytes >= line; bytes -= line, to += line, from += line)
      for (std::size_t at = 0; at < line; at += sizeof(__m128i))
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
    _mm_sfence();  // before anyone is told that the row is there
  }
#endif
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace feedline::python
