#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace feedline::detail {

template <std::size_t N>
[[nodiscard]] bool begins_with(std::span<const std::byte> file,
                               const std::array<unsigned char, N>& magic) noexcept {
  return file.size() >= N &&
         std::equal(magic.begin(), magic.end(), file.begin(),
                    [](unsigned char wanted, std::byte byte) { return std::byte{wanted} == byte; });
}

[[nodiscard]] inline bool is_jpeg(std::span<const std::byte> file) noexcept {
  return begins_with<3>(file, {0xff, 0xd8, 0xff});
}

[[nodiscard]] inline bool is_png(std::span<const std::byte> file) noexcept {
  return begins_with<8>(file, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
}

[[nodiscard]] inline bool is_zip(std::span<const std::byte> file) noexcept {
  return begins_with<4>(file, {'P', 'K', 3, 4});
}

}  // namespace feedline::detail
