#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Copies bytes by all lanes, by words if it can: it reads whole words that contain the bytes.
template <class Warp>
FEEDLINE_HOST_DEVICE void copy_bytes_by(Warp& warp, std::byte* to, const std::byte* from,
                                        std::uint32_t bytes) {
  using std::uint32_t;
  const auto to_word = static_cast<uint32_t>(0U - reinterpret_cast<std::uintptr_t>(to)) % 4U;
  const uint32_t head = to_word < bytes ? to_word : bytes;
  const uint32_t words = (bytes - head) / 4;
  const uint32_t tail = head + 4 * words;
  const auto above = static_cast<uint32_t>(reinterpret_cast<std::uintptr_t>(from + head) % 4);
  const auto* const sources = reinterpret_cast<const uint32_t*>(from + head - above);
  auto* const targets = reinterpret_cast<uint32_t*>(to + head);
  warp.each([&](uint32_t lane) {
    for (uint32_t i = lane; i < head; i += Warp::lanes) to[i] = from[i];
    for (uint32_t i = lane; i < words; i += Warp::lanes) {
      if (above == 0) {
        targets[i] = sources[i];
      } else {
        const std::uint64_t two = std::uint64_t{sources[i + 1]} << 32U | sources[i];
        targets[i] = static_cast<uint32_t>(two >> 8 * above);
      }
    }
    for (uint32_t i = tail + lane; i < bytes; i += Warp::lanes) to[i] = from[i];
  });
}

template <class Warp>
FEEDLINE_HOST_DEVICE void fill_bytes_by(Warp& warp, std::byte* to, std::byte value,
                                        std::uint32_t bytes) {
  using std::uint32_t;
  const auto to_word = static_cast<uint32_t>(0U - reinterpret_cast<std::uintptr_t>(to)) % 4U;
  const uint32_t head = to_word < bytes ? to_word : bytes;
  const uint32_t words = (bytes - head) / 4;
  auto* const targets = reinterpret_cast<uint32_t*>(to + head);
  warp.each([&](uint32_t lane) {
    for (uint32_t i = lane; i < head; i += Warp::lanes) to[i] = value;
    for (uint32_t i = lane; i < words; i += Warp::lanes)
      targets[i] = static_cast<uint32_t>(value) * 0x01010101U;
    for (uint32_t i = head + 4 * words + lane; i < bytes; i += Warp::lanes) to[i] = value;
  });
}

}  // namespace feedline::detail
