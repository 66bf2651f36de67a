#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/storage.hpp"
#include "rows/scratch_pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// A field's rows in blocks that are read as one: the rows that chunks of one place along the first
/// dimension hold. Any number of threads.
class hdf5_blocks {
 public:
  hdf5_blocks() = default;
  hdf5_blocks(const hdf5_blocks&) = delete;
  hdf5_blocks& operator=(const hdf5_blocks&) = delete;
  virtual ~hdf5_blocks() = default;

  /// Reads a block's rows, as the field has them.
  /// @param out All of a block's rows; of the last block those beyond the dataset mean nothing.
  /// @throws hdf5_error saying which chunk or row; its sample is the block's first that is lost.
  virtual void read(std::uint64_t block, std::span<std::byte> out) const = 0;

  /// Asks the system for a block's bytes.
  virtual void prefetch(std::uint64_t block) const noexcept { (void)block; }
};

/// Blocks decoded by feedline: chunks found by a map, their filters undone, put together if they
/// split rows, of records one member picked out, numbers turned into the machine's byte order.
/// Holds no HDF5 lock.
class hdf5_chunk_blocks final : public hdf5_blocks {
 public:
  /// @param name  Of the dataset, for errors.
  /// @param tiles Each chunk is a block by itself, with what lies in it of rows as its rows: of
  ///              chunks at the dataset's edges the padding, too.
  /// @throws hdf5_error if a chunk is too large to be read as one.
  hdf5_chunk_blocks(random_file_ptr file, std::string name, hdf5_storage_layout place,
                    std::shared_ptr<const hdf5_chunk_map> map, bool tiles = false);

  /// Where a field's block goes.
  struct part {
    const hdf5_chunk_blocks* blocks;
    std::span<std::byte> out;
  };

  [[nodiscard]] std::uint64_t rows_per_block() const noexcept { return place_.chunk.front(); }
  void read(std::uint64_t block, std::span<std::byte> out) const override {
    const part own{this, out};
    read(block, {&own, 1});
  }
  /// As `read`, for several members of the same records: each chunk is decoded once.
  /// @param parts The first is this field's.
  void read(std::uint64_t block, std::span<const part> parts) const;
  void prefetch(std::uint64_t block) const noexcept override;

  /// Reads the chunk that is a block as it lies in the file, and looks whether that is unchanged.
  /// @param out As many bytes as the chunk has there. @throws hdf5_error as `read`.
  void read_stored(std::uint64_t block, std::span<std::byte> out) const;
  /// Undoes a chunk's filters, checksums included. @param mask As the chunk's.
  /// @throws hdf5_error, which knows neither chunk nor sample.
  void decode_stored(std::span<const std::byte> stored, std::uint32_t mask,
                     std::span<std::byte> out) const;

  /// Puts the values of a row that lie in a chunk to their places in the row.
  /// @param values Of the chunk as a tile, from the row's first on.
  void put_row_part(std::uint64_t chunk, const std::byte* values, std::span<std::byte> row) const {
    put(chunk, 1, values, place_.element_bytes, {}, row);
  }
  /// As `put_row_part`, of a chunk that was never written.
  void put_fill_part(std::uint64_t chunk, std::span<std::byte> row) const {
    put(chunk, 1, nullptr, 0, place_.fill, row);
  }
  [[nodiscard]] const hdf5_chunk_map& map() const noexcept { return *map_; }
  [[nodiscard]] std::uint64_t chunks_per_block() const noexcept { return chunks_per_block_; }
  /// Of a chunk's values, as the field has them.
  [[nodiscard]] std::size_t chunk_value_bytes() const noexcept {
    return chunk_bytes_ / place_.stored_bytes * place_.element_bytes;
  }

 private:
  struct scratch {
    hdf5_decoder decoder;
    std::vector<std::byte> stored;  ///< where the file is not mapped
    std::vector<std::byte> chunk;   ///< where rows are put together, or members picked out
  };

  void decode(std::uint64_t chunk, scratch& with, std::span<std::byte> out) const;
  void put_fill(std::uint64_t chunk, std::span<std::byte> out) const {
    put(chunk, place_.chunk.front(), nullptr, 0, stored_fill_, out);
  }
  void put_values(std::uint64_t chunk, const std::byte* values, std::span<std::byte> out) const {
    put(chunk, place_.chunk.front(), values + place_.stored_offset, place_.stored_bytes, {}, out);
  }
  void put(std::uint64_t chunk, std::uint64_t rows, const std::byte* values, std::size_t stride,
           std::span<const std::byte> fill, std::span<std::byte> out) const;
  [[nodiscard]] hdf5_error name_failure(const dataset_error& failure, std::uint64_t block) const;
  [[nodiscard]] std::string name_of(std::uint64_t chunk) const;

  random_file_ptr file_;
  std::string name_;
  hdf5_storage_layout place_;
  std::vector<std::byte> stored_fill_;  ///< in the file's byte order
  std::shared_ptr<const hdf5_chunk_map> map_;
  std::vector<std::uint64_t> extents_;  ///< of whole rows, behind the first
  std::vector<std::uint64_t> grid_;     ///< of the chunks that are a block, behind the first
  std::uint64_t chunks_per_block_ = 1;
  std::size_t chunk_bytes_ = 0;
  bool whole_rows_ = true;  ///< a chunk is a block as it is
  mutable scratch_pool<scratch> scratch_{[] { return std::make_unique<scratch>(); }};
  mutable std::vector<std::atomic<std::uint64_t>>
      verified_;  ///< bit i: chunk i's checksum held once
};

}  // namespace feedline::detail
