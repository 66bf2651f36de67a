#pragma once

#include <feedline/backend/block_decoder.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::bench {

/// A way to store rows of 28 × 28 values.
struct encoding {
  std::string name;
  bool floats;  ///< values are f32, else bytes
  std::vector<block_step> steps;
  std::size_t chunk_bytes;  ///< approximate decoded size
};
[[nodiscard]] const std::vector<encoding>& all_encodings();
/// The encoding of a name, or all if it is empty. @throws usage_error naming those there are.
[[nodiscard]] std::vector<encoding> encodings_named(const std::string& name);

/// A file with datasets "image", encoded, and "label".
struct encoded_file {
  std::filesystem::path path;
  std::size_t row_bytes = 0;
  std::uint64_t rows_per_chunk = 0;
  std::uint64_t chunks = 0;
  std::vector<std::vector<std::byte>> stored;  ///< the chunks; the file repeats them

  [[nodiscard]] std::size_t chunk_bytes() const { return row_bytes * rows_per_chunk; }
  /// Decoded bytes of one that is stored.
  [[nodiscard]] double ratio() const;
};
/// Draws rows, encodes them on all cores, and writes a file of this many chunks.
[[nodiscard]] encoded_file write_encoded(const std::filesystem::path& folder, const encoding& as,
                                         std::uint64_t chunks);

}  // namespace feedline::bench
