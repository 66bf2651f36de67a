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

[[nodiscard]] inline bool is_webp(std::span<const std::byte> file) noexcept {
  return begins_with<4>(file, {'R', 'I', 'F', 'F'}) && file.size() >= 12 &&
         begins_with<4>(file.subspan(8), {'W', 'E', 'B', 'P'});
}

/// Classic or big.
[[nodiscard]] inline bool is_tiff(std::span<const std::byte> file) noexcept {
  return begins_with<4>(file, {'I', 'I', 42, 0}) || begins_with<4>(file, {'M', 'M', 0, 42}) ||
         begins_with<4>(file, {'I', 'I', 43, 0}) || begins_with<4>(file, {'M', 'M', 0, 43});
}

[[nodiscard]] inline bool is_bmp(std::span<const std::byte> file) noexcept {
  return begins_with<2>(file, {'B', 'M'});
}

/// PBM, PGM, PPM or PAM.
[[nodiscard]] inline bool is_pnm(std::span<const std::byte> file) noexcept {
  constexpr std::array spaces{std::byte{' '}, std::byte{'\t'}, std::byte{'\n'}, std::byte{'\r'}};
  return begins_with<1>(file, {'P'}) && file.size() > 2 && file[1] >= std::byte{'1'} &&
         file[1] <= std::byte{'7'} &&
         std::find(spaces.begin(), spaces.end(), file[2]) != spaces.end();
}

[[nodiscard]] inline bool is_zip(std::span<const std::byte> file) noexcept {
  return begins_with<4>(file, {'P', 'K', 3, 4});
}

}  // namespace feedline::detail
