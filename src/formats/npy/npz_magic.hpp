#pragma once

#include "detail/byte_order.hpp"
#include "io/file_magic.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace feedline::detail {

/// What a member's name ends in that is an array.
inline constexpr std::string_view npy_suffix = ".npy";

/// Whether a file that begins so is an archive of NumPy arrays: a zip archive whose first member is
/// named "….npy". @param head Its first bytes; 256 are enough for names that people give.
[[nodiscard]] inline bool is_npz(std::span<const std::byte> head) noexcept {
  // APPNOTE.TXT 4.3.7: a local header has the name's length at byte 26, and the name at 30.
  constexpr std::size_t name_at = 30;
  if (head.size() < name_at || !is_zip(head)) return false;
  const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  const std::size_t length = little_endian(head.subspan(26, 2));
  return length <= head.size() - name_at && text.substr(name_at, length).ends_with(npy_suffix);
}

}  // namespace feedline::detail
