#pragma once

#include "support/files/idx_bytes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedline::test {

/// A member of a zip archive, and the lies that it tells.
struct zip_entry {
  std::string name;
  byte_vector content;
  bool compressed = false;
  bool zip64 = true;  ///< its local header has 64-bit sizes, as `numpy.savez` writes them
  std::optional<std::uint32_t> claimed_bytes = {};  ///< decompressed, in the directory
  std::optional<std::uint32_t> checksum = {};
  std::uint16_t flags = 0;        ///< 1: encrypted
  std::uint16_t method = 0xffff;  ///< compression method; 0xffff: the one that was used
};

/// A zip archive (APPNOTE.TXT), members as `numpy.savez` or `numpy.savez_compressed` writes them.
[[nodiscard]] byte_vector zip_bytes(const std::vector<zip_entry>& entries);

}  // namespace feedline::test
