#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/storage.hpp"
#include "rows/decoded/blocks.hpp"
#include "rows/scratch_pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Throws a failure again, as the loss of one sample.
[[noreturn]] inline void throw_as_hdf5_error(const dataset_error& failure, std::uint64_t sample) {
  dataset_location where = failure.where();
  where.sample = sample;
  throw hdf5_error{std::move(where), failure.message()};
}

/// Blocks that feedline decodes: it finds chunks by a map and undoes their filters, assembles
/// rows that chunks split, picks one member out of records, and turns numbers into the machine's
/// byte order. Holds no HDF5 lock.
class hdf5_chunk_blocks final : public chunk_blocks {
 public:
  /// @param name Name of the dataset, for errors.
  /// @param tiles If true, each chunk is a block by itself, and its rows are the parts of rows that
  ///              it has; at the dataset's edges these include padding.
  /// @throws hdf5_error if a chunk is too large to be read at once.
  hdf5_chunk_blocks(byte_file_ptr file, std::string name, hdf5_storage_layout place,
                    std::shared_ptr<const hdf5_chunk_map> map, bool tiles = false);

  /// Destination of a field's block.
  struct part {
    const hdf5_chunk_blocks* blocks;
    std::span<std::byte> out;
  };

  [[nodiscard]] std::uint64_t rows_per_block() const noexcept override {
    return place_.chunk.front();
  }
  void read(std::uint64_t block, std::span<std::byte> out) const override {
    const part own{this, out};
    read(block, {&own, 1});
  }
  /// Like `read`, for several members of the same records: each chunk is decoded once.
  /// @param parts The first one is this field's.
  void read(std::uint64_t block, std::span<const part> parts) const;
  void prefetch(std::uint64_t block) const noexcept override;
  [[noreturn]] void fail(const dataset_error& failure, std::uint64_t sample) const override {
    throw_as_hdf5_error(failure, sample);
  }

  /// Reads the stored bytes of the chunk that is a block, and checks that the file is unchanged.
  /// @param out Memory of the chunk's stored size. @throws hdf5_error like `read`.
  void read_stored(std::uint64_t block, std::span<std::byte> out) const;
  /// Undoes a chunk's filters, including checksums. @param mask Filter mask of the chunk.
  /// @throws hdf5_error, which names neither chunk nor sample.
  void decode_stored(std::span<const std::byte> stored, std::uint32_t mask,
                     std::span<std::byte> out) const;

  void put_row_part(std::uint64_t chunk, const std::byte* values,
                    std::span<std::byte> row) const override {
    put(chunk, 1, values, place_.element_bytes, {}, row);
  }
  void put_fill_part(std::uint64_t chunk, std::span<std::byte> row) const override {
    put(chunk, 1, nullptr, 0, place_.fill, row);
  }
  [[nodiscard]] const hdf5_chunk_map& map() const noexcept { return *map_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept override { return map_->size(); }
  [[nodiscard]] bool is_written(std::uint64_t chunk) const noexcept override {
    return (*map_)[chunk].is_written();
  }
  [[nodiscard]] std::uint64_t chunks_per_block() const noexcept override {
    return chunks_per_block_;
  }
  [[nodiscard]] std::size_t chunk_value_bytes() const noexcept override {
    return chunk_bytes_ / place_.stored_bytes * place_.element_bytes;
  }

 private:
  struct scratch {
    hdf5_decoder decoder;
    std::vector<std::byte> stored;  ///< used if the file is not mapped
    std::vector<std::byte> chunk;   ///< where rows are assembled, or members picked out
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

  byte_file_ptr file_;
  std::string name_;
  hdf5_storage_layout place_;
  std::vector<std::byte> stored_fill_;  ///< in the file's byte order
  std::shared_ptr<const hdf5_chunk_map> map_;
  std::vector<std::uint64_t> extents_;  ///< extents of whole rows, after the first dimension
  std::vector<std::uint64_t> grid_;     ///< grid of a block's chunks, after the first dimension
  std::uint64_t chunks_per_block_ = 1;
  std::size_t chunk_bytes_ = 0;
  bool whole_rows_ = true;  ///< a decoded chunk is a block, without changes
  mutable scratch_pool<scratch> scratch_{[] { return std::make_unique<scratch>(); }};
  mutable std::vector<std::atomic<std::uint64_t>>
      verified_;  ///< bit i: chunk i's checksum was correct once
};

}  // namespace feedline::detail
