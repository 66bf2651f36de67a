#pragma once

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Position of an HDF5 dataset's chunk in its file.
struct hdf5_chunk {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  std::uint64_t address =
      nowhere;  ///< from the file's first byte, including the user block; `nowhere`: never written
  std::uint32_t bytes = 0;        ///< stored size
  std::uint32_t filter_mask = 0;  ///< bit i: filter i of the dataset's pipeline was left out

  [[nodiscard]] bool is_written() const noexcept { return address != nowhere; }
  friend bool operator==(const hdf5_chunk&, const hdf5_chunk&) = default;
};

/// All chunks of a dataset: a dense array, 16 bytes a chunk. Does not use the HDF5 library;
/// `map_hdf5_chunks` fills one.
///
/// Any number of threads may read it once it is filled.
class hdf5_chunk_map {
 public:
  /// Makes a map without written chunks.
  /// @param extents Extents of the dataset, in elements. @param chunk_extents Extents of a chunk.
  /// Both have the same rank, at least 1, and no extent is 0. @throws usage_error if there are more
  /// chunks than memory could hold.
  hdf5_chunk_map(std::vector<std::uint64_t> extents, std::vector<std::uint64_t> chunk_extents)
      : extents_{std::move(extents)}, chunk_extents_{std::move(chunk_extents)} {
    if (extents_.empty() || extents_.size() != chunk_extents_.size() ||
        std::ranges::count(extents_, 0U) != 0 || std::ranges::count(chunk_extents_, 0U) != 0)
      throw usage_error{
          "a chunk map needs the extents of a dataset and of its chunks, the same number of each, "
          "and none 0"};
    const auto chunks = count(extents_, chunk_extents_);
    if (!chunks) throw usage_error{"a dataset with this many chunks cannot be mapped"};
    for (std::size_t d = 0; d < extents_.size(); ++d)
      grid_.push_back(divide_up(extents_[d], chunk_extents_[d]));
    chunks_.resize(*chunks);
  }

  [[nodiscard]] std::span<const std::uint64_t> extents() const noexcept { return extents_; }
  /// Number of chunks along each dimension, including those at the edge.
  [[nodiscard]] std::span<const std::uint64_t> grid() const noexcept { return grid_; }

  /// Number of chunks, which are in row-major order over the grid.
  [[nodiscard]] std::uint64_t size() const noexcept { return chunks_.size(); }
  [[nodiscard]] const hdf5_chunk& operator[](std::uint64_t number) const noexcept {
    return chunks_[number];
  }
  [[nodiscard]] hdf5_chunk& operator[](std::uint64_t number) noexcept { return chunks_[number]; }

  /// Position of a chunk's first element. @param out One coordinate for each dimension of the
  /// dataset.
  void first_element(std::uint64_t number, std::span<std::uint64_t> out) const noexcept {
    for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
      out[d] = number % grid_[d] * chunk_extents_[d];
  }
  /// Whether a chunk extends past the dataset's end in some dimension.
  [[nodiscard]] bool is_partial(std::uint64_t number) const noexcept {
    for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
      if (number % grid_[d] == grid_[d] - 1 && extents_[d] % chunk_extents_[d] != 0) return true;
    return false;
  }

  /// Number of chunks that there would be; nothing if there are too many to count.
  [[nodiscard]] static std::optional<std::uint64_t> count(
      std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk_extents) {
    constexpr std::uint64_t max_chunks = PTRDIFF_MAX / sizeof(hdf5_chunk);
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto more = checked_multiply(chunks, divide_up(extents[d], chunk_extents[d]));
      if (!more || *more > max_chunks) return std::nullopt;
      chunks = *more;
    }
    return chunks;
  }

 private:
  std::vector<std::uint64_t> extents_;
  std::vector<std::uint64_t> chunk_extents_;
  std::vector<std::uint64_t> grid_;
  std::vector<hdf5_chunk> chunks_;
};

}  // namespace feedline::detail
