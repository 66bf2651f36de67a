#pragma once

#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace feedline::test {

/// A Zarr store in a folder, written key by key.
class zarr_folder {
 public:
  /// @return The store's path.
  [[nodiscard]] std::string path() const { return folder_.path() / "store.zarr"; }

  void put(const std::string& key, std::span<const std::byte> bytes) const {
    const std::filesystem::path place = std::filesystem::path{"store.zarr"} / key;
    std::filesystem::create_directories((folder_.path() / place).parent_path());
    static_cast<void>(folder_.write(place.string(), bytes));
  }
  void put(const std::string& key, std::string_view text) const {
    put(key, std::as_bytes(std::span{text}));
  }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }

 private:
  temporary_directory folder_;
};

/// The metadata of an array of version 3. @param more Further members, each after a comma.
[[nodiscard]] inline std::string zarr_v3(const std::string& shape, const std::string& chunk,
                                         const std::string& type, const std::string& codecs,
                                         const std::string& fill = "0",
                                         const std::string& more = "") {
  return R"({"zarr_format": 3, "node_type": "array", "shape": )" + shape + R"(, "data_type": )" +
         type + R"(, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + chunk +
         R"(}}, "chunk_key_encoding": {"name": "default"}, "fill_value": )" + fill +
         R"(, "codecs": )" + codecs + more + "}";
}

/// The metadata of an array of version 2.
[[nodiscard]] inline std::string zarr_v2(const std::string& shape, const std::string& chunk,
                                         const std::string& type, const std::string& more = "",
                                         const std::string& compressor = "null",
                                         const std::string& fill = "0") {
  return R"({"zarr_format": 2, "shape": )" + shape + R"(, "chunks": )" + chunk + R"(, "dtype": )" +
         type + R"(, "fill_value": )" + fill + R"(, "compressor": )" + compressor + more + "}";
}

inline const std::string zarr_bytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";
inline const std::string zarr_group = R"({"zarr_format": 3, "node_type": "group"})";

/// A frame of Zstandard that holds bytes uncompressed. @param bytes Fewer than 128 KiB.
[[nodiscard]] inline byte_vector raw_zstd(std::span<const std::byte> bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  byte_vector frame = memory_of<std::uint32_t>({0xFD2FB528U});
  frame.push_back(std::byte{0xA0});  // one segment, whose size has four bytes
  for (int i = 0; i < 4; ++i) frame.push_back(static_cast<std::byte>(size >> (8 * i)));
  const std::uint32_t header = size << 3U | 1U;  // the last block, raw
  for (int i = 0; i < 3; ++i) frame.push_back(static_cast<std::byte>(header >> (8 * i)));
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return frame;
}

/// Bytes in numcodecs' form of LZ4: their size, and a block of literals alone.
[[nodiscard]] inline byte_vector raw_lz4(std::span<const std::byte> bytes) {
  byte_vector block = memory_of<std::uint32_t>({static_cast<std::uint32_t>(bytes.size())});
  std::size_t left = bytes.size();
  block.push_back(static_cast<std::byte>(left < 15 ? left << 4U : 0xF0U));
  if (left >= 15) {
    for (left -= 15; left >= 255; left -= 255) block.push_back(std::byte{255});
    block.push_back(static_cast<std::byte>(left));
  }
  block.insert(block.end(), bytes.begin(), bytes.end());
  return block;
}

}  // namespace feedline::test
