#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Blocks of text that are decompressed whole and kept.
struct text_blocks {
  std::uint64_t count = 0;  ///< all files; 0: no file is compressed
  std::size_t bytes = 0;    ///< size of the largest
  std::uint64_t kept = 0;   ///< maximum number that is kept
};

/// Text files that can be read at any offset.
struct text_files {
  std::vector<byte_file_ptr> files;
  text_blocks blocks = {};
};

/// Replaces files that gzip compressed by their decompressed content. Each is decompressed once, to
/// check it and to find a point every 4 MiB from which it can be read; a point takes 32 KiB. Later
/// a block is decompressed from its point when a byte of it is read, by any thread, and kept.
/// @param max_host_cache_bytes Same as in `table_options`.
/// @throws dataset_error naming file and byte: damaged, cut short.
[[nodiscard]] text_files unpack_text_files(std::vector<byte_file_ptr> files,
                                           std::size_t max_host_cache_bytes);

}  // namespace feedline::detail
