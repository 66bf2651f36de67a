#pragma once

#include "formats/zarr/chunks.hpp"
#include "rows/decoded/blocks.hpp"
#include "rows/scratch_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// An array's rows in blocks of chunks: it undoes their codecs, assembles rows that chunks split,
/// turns axes and numbers into the order that they have in memory, and fills in what was never
/// written.
class zarr_blocks final : public chunk_blocks {
 public:
  /// @param tiles If true, each chunk is a block by itself, and its rows are the parts of rows that
  ///              it has; at the array's edges these include padding.
  explicit zarr_blocks(std::shared_ptr<const zarr_chunks> chunks, bool tiles = false);

  void read(std::uint64_t block, std::span<std::byte> out) const override;
  void prefetch(std::uint64_t block) const noexcept override;
  [[nodiscard]] bool is_cold() const noexcept override { return chunks_->is_cold(); }

  [[nodiscard]] std::uint64_t rows_per_block() const noexcept override {
    return array().chunk.front();
  }
  [[nodiscard]] std::uint64_t chunks() const noexcept override { return chunks_->size(); }
  [[nodiscard]] std::uint64_t chunks_per_block() const noexcept override {
    return chunks_per_block_;
  }
  [[nodiscard]] std::size_t chunk_value_bytes() const noexcept override { return chunk_bytes_; }
  [[nodiscard]] bool is_written(std::uint64_t chunk) const noexcept override {
    return chunks_->is_written(chunk);
  }
  void put_row_part(std::uint64_t chunk, const std::byte* values,
                    std::span<std::byte> row) const override {
    put(chunk, 1, values, tile_strides_, row);
  }
  void put_fill_part(std::uint64_t chunk, std::span<std::byte> row) const override {
    put(chunk, 1, nullptr, {}, row);
  }

  /// Reads the stored bytes of the chunk that is a block. Only if a decoded chunk is a block
  /// without changes, and the chunk is written. @throws dataset_error naming array, chunk and
  /// sample.
  void read_stored(std::uint64_t block, std::vector<std::byte>& into) const;
  /// The same into memory of that size.
  void read_stored(std::uint64_t block, std::span<std::byte> out) const;

 private:
  struct scratch {
    hdf5_decoder decoder;
    std::vector<std::byte> stored;
    std::vector<std::byte> chunk;
  };

  [[nodiscard]] const zarr_array& array() const noexcept { return chunks_->array(); }
  void read_chunk(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const;
  bool decode(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const;
  void put(std::uint64_t chunk, std::uint64_t rows, const std::byte* values,
           std::span<const std::uint64_t> strides, std::span<std::byte> out) const;
  [[noreturn]] void refuse(const dataset_error& failure, std::uint64_t chunk,
                           std::uint64_t sample) const;

  std::shared_ptr<const zarr_chunks> chunks_;
  std::vector<std::uint64_t> extents_;  ///< extents of a block's rows: the array's, or a chunk's
  std::vector<std::uint64_t> grid_;     ///< grid of a block's chunks, after the first axis
  std::vector<std::uint64_t> strides_;  ///< elements from one to the next, in stored chunks
  std::vector<std::uint64_t> tile_strides_;  ///< the same in C order
  std::uint64_t chunks_per_block_ = 1;
  std::size_t element_bytes_;
  std::size_t chunk_bytes_;
  bool whole_rows_;
  mutable scratch_pool<scratch> scratch_{[] { return std::make_unique<scratch>(); }};
};

}  // namespace feedline::detail
