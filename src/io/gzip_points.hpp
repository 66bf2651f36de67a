#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct z_stream_s;  // zlib's

namespace feedline::detail {

/// A point from which a gzip file can be decompressed, without what is before it.
struct gzip_point {
  std::uint64_t stored = 0;            ///< offset in the file
  std::uint64_t raw = 0;               ///< offset in the decompressed content
  unsigned bits = 0;                   ///< number of bits of the byte before it that belong to it
  bool begins_member = true;           ///< a member begins here, with its header
  std::uint32_t crc = 0;               ///< checksum of the content up to the next point
  std::vector<std::byte> window = {};  ///< the last 32 KiB before it; empty at a member's beginning
};

/// The points of a gzip file, in their order; the first is its beginning.
struct gzip_points {
  std::vector<gzip_point> points;
  std::uint64_t raw_bytes = 0;  ///< size of the decompressed content

  /// The decompressed bytes from a point up to the next one.
  [[nodiscard]] byte_range raw_range(std::size_t point) const noexcept {
    return {points[point].raw, point + 1 == points.size() ? raw_bytes : points[point + 1].raw};
  }
};

/// Decompresses a file once, from front to back, and checks all its checksums.
/// @param span At least this many decompressed bytes are between two points.
/// @throws dataset_error naming the file and the byte in it: damaged, cut short, something after
/// the gzip stream, no point within 1 GiB.
[[nodiscard]] gzip_points find_gzip_points(const byte_file& file, std::uint64_t span);

/// Decompresses parts of gzip files. One thread.
class gzip_part_reader {
 public:
  gzip_part_reader();

  /// @param out The bytes from a point to the next one: `raw_range(point)`.
  /// @throws dataset_error naming the file if it does not have the same content as when its points
  /// were found.
  void read(const byte_file& file, const gzip_points& of, std::size_t point,
            std::span<std::byte> out);

 private:
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  std::vector<std::byte> stored_;
};

}  // namespace feedline::detail
