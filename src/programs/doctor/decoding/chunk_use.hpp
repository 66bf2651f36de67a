#pragma once

#include <feedline/arrays/windows.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace doctor {

/// How windows use the chunks of one array.
struct chunk_use {
  std::string array;                   ///< name of the array
  std::vector<std::uint64_t> extents;  ///< extents of a chunk
  std::uint64_t bytes = 0;             ///< bytes of a decoded chunk
  std::uint64_t chunks = 0;            ///< in the array
  std::uint64_t kept = 0;              ///< chunks that are kept once they are decoded
  double needed = 1;                   ///< mean number of chunks that a window needs
  double used = 1;      ///< share of the values of these chunks that the window consists of
  double in_epoch = 0;  ///< windows of an epoch that need a chunk, on average

  /// Chunks are decoded again, because other chunks take their memory.
  [[nodiscard]] bool is_decoded_again() const { return kept < chunks && in_epoch > 1.5; }
};

/// Counts from the extents alone. Windows with a grid have its positions, random ones any.
/// @param spec An array in chunks. @param samples Windows of an epoch.
[[nodiscard]] chunk_use use_of_chunks(const feedline::array_spec& spec,
                                      const std::vector<feedline::window>& windows,
                                      std::uint64_t samples);

}  // namespace doctor
