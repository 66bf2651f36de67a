#pragma once

#include <feedline/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace feedline::detail {

/// A field's rows in blocks that are each read and decoded as a whole. A block has the rows of all
/// chunks at one index along the first dimension. Any number of threads may use it.
class decoded_blocks {
 public:
  decoded_blocks() = default;
  decoded_blocks(const decoded_blocks&) = delete;
  decoded_blocks& operator=(const decoded_blocks&) = delete;
  virtual ~decoded_blocks() = default;

  /// Reads a block's rows, in the field's form.
  /// @param out All of a block's rows; in the last block, rows past the dataset's end are
  ///            meaningless.
  /// @throws dataset_error that says which chunk or row; its sample is the first lost one of the
  ///   block.
  virtual void read(std::uint64_t block, std::span<std::byte> out) const = 0;

  /// Asks the system to load a block's bytes.
  virtual void prefetch(std::uint64_t block) const noexcept { (void)block; }
  /// Whether hints are useful, for blocks that are not in one file.
  [[nodiscard]] virtual bool is_cold() const noexcept { return false; }

  /// Throws a failure of `read` again, as the loss of one sample.
  [[noreturn]] virtual void fail(const dataset_error& failure, std::uint64_t sample) const {
    dataset_location where = failure.where();
    where.sample = sample;
    throw dataset_error{std::move(where), failure.message()};
  }
};

/// Blocks made of chunks, which may split rows.
class chunk_blocks : public decoded_blocks {
 public:
  [[nodiscard]] virtual std::uint64_t rows_per_block() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t chunks() const noexcept = 0;  ///< number of all chunks
  [[nodiscard]] virtual std::uint64_t chunks_per_block() const noexcept = 0;
  /// Bytes of a chunk's values, in the field's form.
  [[nodiscard]] virtual std::size_t chunk_value_bytes() const noexcept = 0;
  /// False: the chunk was never written, so that all its values are the fill value.
  [[nodiscard]] virtual bool is_written(std::uint64_t chunk) const noexcept = 0;
  /// Copies the values of a row that a chunk has to their positions in the row.
  /// @param values Values of the chunk as a tile, beginning with the row's first one.
  virtual void put_row_part(std::uint64_t chunk, const std::byte* values,
                            std::span<std::byte> row) const = 0;
  /// Like `put_row_part`, for a chunk that was never written.
  virtual void put_fill_part(std::uint64_t chunk, std::span<std::byte> row) const = 0;
};

}  // namespace feedline::detail
