#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// All chunks of a dataset: a dense array, 16 bytes a chunk. Knows nothing of the HDF5 library;
/// `map_hdf5_chunks` fills one.
///
/// Threads: any number may read it, once it is filled.
class hdf5_chunk_map {
 public:
  /// All chunks are nowhere.
  /// @param extents Of the dataset, in elements. @param chunk_extents Of a chunk. Both of equal
  /// rank, at least 1, none 0. @throws usage_error if there are more chunks than memory could
  /// count.
  hdf5_chunk_map(std::vector<std::uint64_t> extents, std::vector<std::uint64_t> chunk_extents);

  [[nodiscard]] std::span<const std::uint64_t> extents() const noexcept { return extents_; }
  /// Chunks along each dimension, those at the edge included.
  [[nodiscard]] std::span<const std::uint64_t> grid() const noexcept { return grid_; }

  /// In row-major order over the grid.
  [[nodiscard]] std::uint64_t size() const noexcept { return chunks_.size(); }
  [[nodiscard]] const hdf5_chunk& operator[](std::uint64_t number) const noexcept {
    return chunks_[number];
  }
  [[nodiscard]] hdf5_chunk& operator[](std::uint64_t number) noexcept { return chunks_[number]; }

  /// A chunk's first element. @param out As many coordinates as the dataset has dimensions.
  void first_element(std::uint64_t number, std::span<std::uint64_t> out) const noexcept;
  /// Whether a chunk reaches over the dataset's end in some dimension.
  [[nodiscard]] bool is_partial(std::uint64_t number) const noexcept;

  /// How many chunks there would be; nothing if that cannot be counted.
  [[nodiscard]] static std::optional<std::uint64_t> count(
      std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk_extents);

 private:
  std::vector<std::uint64_t> extents_;
  std::vector<std::uint64_t> chunk_extents_;
  std::vector<std::uint64_t> grid_;
  std::vector<hdf5_chunk> chunks_;
};

}  // namespace feedline::detail
