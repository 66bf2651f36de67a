#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Whether these bytes begin an LMDB file.
[[nodiscard]] bool is_lmdb_head(std::span<const std::byte> head) noexcept;

/// Is given each key of a database, in their order, and the location of its value.
using use_lmdb_entry = std::function<void(std::string_view key, byte_range value)>;

/// Reads the pages of an LMDB file (version 1, which LMDB 0.9 writes) that have keys.
/// @param database Its name; empty: the main one, or the only one that it names.
/// @throws dataset_error naming the byte: damaged, cut short, another version, values that are
/// sorted duplicates, no such database.
void read_lmdb_entries(const byte_file& file, const std::string& database,
                       const use_lmdb_entry& use);

}  // namespace feedline::detail
