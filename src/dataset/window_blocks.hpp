#pragma once

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/window_block.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Samples that are cut out of arrays in chunks, for devices that decode chunks and cut the
/// samples. A block is one sample.
///
/// Several samples share a chunk, so that a block has no bytes of its own: `cut` lists a
/// sample's boxes, each in a chunk, and `chunks` reads the chunks. For users who do not know this
/// class a block is a row on which no step was done. Any number of threads.
class window_blocks : public encoded_blocks {
 public:
  /// A number for pieces that are no part of a chunk, but filled with one value.
  static constexpr std::uint64_t no_chunk = UINT64_MAX;

  /// An array in chunks.
  struct array {
    std::string name;
    std::uint64_t chunks = 0;
    std::size_t chunk_bytes = 0;
    std::uint64_t max_chunks = 0;  ///< no sample needs more of them
  };
  /// A box of a sample, and the chunk that it is cut from. The box has no address yet.
  struct piece {
    std::uint64_t chunk;
    window_box box;
  };
  /// The pieces of a sample's field.
  struct recipe {
    std::uint32_t fills = 0;  ///< the first of them, which others may write again
    std::vector<piece> pieces = {};
  };

  [[nodiscard]] std::uint64_t rows() const noexcept override { return 1; }
  /// Whether a field is cut out of chunks; others are rows that readers read.
  [[nodiscard]] virtual bool is_window(std::size_t field) const noexcept = 0;
  [[nodiscard]] virtual std::span<const array> arrays() const noexcept = 0;
  /// The chunks of all arrays: an array is a field, and a chunk a block of one row.
  [[nodiscard]] virtual std::shared_ptr<const encoded_blocks> chunks() const = 0;
  /// No sample's field has more.
  [[nodiscard]] virtual std::uint64_t max_pieces(std::size_t field) const noexcept = 0;
  /// @param field A window. @param context The read, whose own sample another dataset may have
  /// exchanged for `sample`. @param out Its content is replaced.
  virtual void cut(std::size_t field, sample_index sample, const sample_context& context,
                   recipe& out) const = 0;
};

}  // namespace feedline::detail
