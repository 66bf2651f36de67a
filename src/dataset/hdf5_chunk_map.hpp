#pragma once

#include "dataset/hdf5_session.hpp"
#include "dataset/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Where a chunk of an HDF5 dataset lies in its file.
struct hdf5_chunk {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  std::uint64_t address =
      nowhere;  ///< from the file's first byte, user block included; `nowhere`: never written
  std::uint32_t bytes = 0;        ///< as stored
  std::uint32_t filter_mask = 0;  ///< bit i: filter i of the dataset's pipeline was left out

  [[nodiscard]] bool is_written() const noexcept { return address != nowhere; }
  friend bool operator==(const hdf5_chunk&, const hdf5_chunk&) = default;
};

/// All chunks of a dataset: a dense array, 16 bytes a chunk. Constant once made.
class hdf5_chunk_map {
 public:
  /// @param extents Of the dataset, in elements. @param chunk_extents Of a chunk. Both of equal rank,
  /// at least 1, none 0. @throws usage_error if there are more chunks than memory could count.
  hdf5_chunk_map(std::vector<std::uint64_t> extents, std::vector<std::uint64_t> chunk_extents);

  [[nodiscard]] std::span<const std::uint64_t> extents() const noexcept { return extents_; }
  [[nodiscard]] std::span<const std::uint64_t> chunk_extents() const noexcept {
    return chunk_extents_;
  }
  /// Chunks along each dimension, those at the edge included.
  [[nodiscard]] std::span<const std::uint64_t> grid() const noexcept { return grid_; }

  /// In row-major order over the grid.
  [[nodiscard]] std::uint64_t size() const noexcept { return chunks_.size(); }
  [[nodiscard]] const hdf5_chunk& operator[](std::uint64_t number) const noexcept {
    return chunks_[number];
  }
  [[nodiscard]] hdf5_chunk& operator[](std::uint64_t number) noexcept { return chunks_[number]; }

 private:
  std::vector<std::uint64_t> extents_;
  std::vector<std::uint64_t> chunk_extents_;
  std::vector<std::uint64_t> grid_;
  std::vector<hdf5_chunk> chunks_;
};

/// Finds all chunks of a chunked dataset, whatever its index, in time proportional to their number.
///
/// By the file's own index, parsed here, and compared with the library's answer for the first, the last and some
/// chunks between; where the index is of a kind not known here, or an answer differs, by asking the library
/// for each chunk. Each chunk lies within the file, or it throws.
/// @param file The file that holds the dataset, which may not be the one that was opened.
/// @throws hdf5_error naming the dataset: an index that is damaged, a chunk that lies beyond the file's end.
[[nodiscard]] hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset,
                                             const random_file& file, const std::string& name);

}  // namespace feedline::detail
