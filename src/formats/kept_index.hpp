#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// An index as it is kept: what it must agree with, its numbers of 8 bytes, and a checksum of all.
/// @param kind Kind of index, with the version of its form.
[[nodiscard]] std::vector<std::byte> stored_index(const byte_file& of, std::string_view kind,
                                                  std::span<const std::uint64_t> numbers);
/// Numbers of a stored index. They are as they were stored, but may be those of a wrong index:
/// users check what they rely on.
/// @return Empty: these bytes are no index of this kind and of this file as it is now.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> read_stored_index(
    std::span<const std::byte> stored, const byte_file& of, std::string_view kind);

/// Numbers of the index that is kept in a folder. @return Empty: there is none of this file as it
/// is now, or the file has no version.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> find_kept_index(const byte_file& of,
                                                                        std::string_view kind,
                                                                        const std::string& folder);
/// Keeps an index in a folder, in place of an older one. Other processes find the old one or the
/// new one, never a part. None is kept of a file without a version. The log tells this, and if the
/// index cannot be written. @param who Begins the message: "open_csv".
void keep_index(const byte_file& of, std::string_view kind, const std::string& folder,
                std::span<const std::uint64_t> numbers, std::string_view who);

}  // namespace feedline::detail
