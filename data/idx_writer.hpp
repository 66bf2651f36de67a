#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace digits {

/// Writes bytes as an IDX file (the format is in README.md). The file appears complete or not at
/// all: it is written under another name first.
/// @param shape Its product is the number of bytes; each dimension is less than 2³².
/// @throws std::runtime_error naming the file if it cannot be written.
void write_idx(const std::filesystem::path& file, const std::vector<std::uint32_t>& shape,
               std::span<const std::uint8_t> bytes);

}  // namespace digits
