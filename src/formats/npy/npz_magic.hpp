#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace feedline::detail {

/// What a member's name ends in that is an array.
inline constexpr std::string_view npy_suffix = ".npy";

/// Whether a file that begins so is an archive of NumPy arrays: a zip archive whose first member is
/// named "….npy". @param head Its first bytes; 256 are enough for names that people give.
[[nodiscard]] inline bool is_npz(std::span<const std::byte> head) noexcept {
  // APPNOTE.TXT 4.3.7: the signature of a local header, at byte 26 the length of the name, at 30 the
  // name.
  constexpr std::array signature{std::byte{'P'}, std::byte{'K'}, std::byte{3}, std::byte{4}};
  constexpr std::size_t length_at = 26;
  constexpr std::size_t name_at = 30;
  if (head.size() < name_at || !std::equal(signature.begin(), signature.end(), head.begin()))
    return false;
  const auto length = std::to_integer<std::size_t>(head[length_at]) |
                      std::to_integer<std::size_t>(head[length_at + 1]) << 8;
  if (length < npy_suffix.size() || length > head.size() - name_at) return false;
  const auto end = head.subspan(name_at + length - npy_suffix.size(), npy_suffix.size());
  return std::equal(npy_suffix.begin(), npy_suffix.end(), end.begin(),
                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

}  // namespace feedline::detail
