#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convert {

/// "0x0123abcd".
[[nodiscard]] std::string to_hex(std::uint32_t value);

/// How far a conversion has come: these samples are on the disk, with these checksums.
struct progress_made {
  std::uint64_t samples = 0;
  std::vector<std::uint32_t> checksums;  ///< CRC-32 of each field, over its samples' bytes

  friend bool operator==(const progress_made&, const progress_made&) = default;
};

/// What a small text file beside an unfinished output says of it.
struct journal {
  std::string identity;  ///< what is converted into what: lines of text, equal for equal outputs
  progress_made made;

  /// Puts it on the disk in place of what was there.
  void write(const std::filesystem::path& path) const;
  /// Nothing if there is no such file, or it is not a whole journal.
  [[nodiscard]] static std::optional<journal> read(const std::filesystem::path& path);
};

}  // namespace convert
