#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace feedline::detail {

/// A kind of file that is known by its first bytes, feedline's own formats among them.
struct file_kind {
  std::string_view name;    ///< "a gzip file"
  std::string_view advice;  ///< how to make it a file that feedline reads: "decompress it (gunzip)"
};

/// The kind of a file by its first bytes: compressed files, archives, containers of arrays and
/// tables, images, text. Null if the kind is unknown.
///
/// Two bytes are never enough: a kind takes some four that agree, so that numbers in a file without
/// a header are not taken for one.
/// @param head Its first bytes, 1,024 at best.
[[nodiscard]] const file_kind* find_file_kind(std::span<const std::byte> head) noexcept;

}  // namespace feedline::detail
