#pragma once

#include <feedline/arrays/array_source.hpp>

#include "arrays/copy_box.hpp"
#include "dataset/encoded_rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// The part of a box that a chunk has.
struct chunk_part {
  std::uint64_t chunk;
  std::array<std::uint64_t, max_rank> count;
  std::uint64_t from;                                ///< byte of the chunk
  std::array<std::ptrdiff_t, max_rank> from_stride;  ///< in bytes
  std::ptrdiff_t to;                                 ///< bytes from the box's `out`
};

/// An array in chunks that devices may decode.
class encoded_array {
 public:
  encoded_array() = default;
  encoded_array(const encoded_array&) = delete;
  encoded_array& operator=(const encoded_array&) = delete;
  virtual ~encoded_array() = default;

  /// Its chunks as they are stored, each a block; null: readers alone decode them, and the other
  /// functions must not be called.
  [[nodiscard]] virtual std::shared_ptr<const encoded_rows> encoded() const = 0;
  [[nodiscard]] virtual bool is_written(std::uint64_t chunk) const noexcept = 0;
  /// One element: the value of chunks that are not written.
  [[nodiscard]] virtual std::span<const std::byte> fill() const noexcept = 0;
  /// Appends the parts of a box, one for each chunk that it needs. Does not use `box.out`.
  virtual void cut(const array_box& box, std::vector<chunk_part>& parts) const = 0;
};

}  // namespace feedline::detail
