#pragma once

#include <feedline/arrays/array_source.hpp>

#include "dataset/encoded_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Chunks of an array, each of which is read and decoded as a whole. Immutable; any number of
/// threads.
///
/// A format of chunked arrays derives from this class; `make_chunked_array` does the rest. Chunks
/// are numbered row-major over their grid.
class chunk_source {
 public:
  chunk_source() = default;
  chunk_source(const chunk_source&) = delete;
  chunk_source& operator=(const chunk_source&) = delete;
  virtual ~chunk_source() = default;

  /// False: the chunk is absent, and all its elements are the fill value.
  [[nodiscard]] virtual bool is_written(std::uint64_t chunk) const noexcept = 0;
  /// Reads a chunk that is written, row-major, in the machine's byte order. @param out Bytes of a
  /// whole chunk. Elements beyond the array's edges are not used.
  /// @throws dataset_error naming the chunk.
  virtual void read(std::uint64_t chunk, std::span<std::byte> out) const = 0;
  /// Whether `prefetch` would help now; cheap.
  [[nodiscard]] virtual bool is_cold() const noexcept { return false; }
  /// Asks for a chunk's bytes. Returns without waiting.
  virtual void prefetch(std::uint64_t chunk) const noexcept { (void)chunk; }
  /// The chunks as they are stored, for devices that decode them to what `read` gives; null:
  /// readers alone decode them.
  [[nodiscard]] virtual std::shared_ptr<const encoded_rows> encoded() const { return nullptr; }
  /// @throws dataset_error if the chunks are not those of the opening any more. Each read of boxes
  /// ends with it.
  virtual void require_unchanged() const {}
};

/// An array in chunks. Decoded chunks are cached while memory allows, and evicted in the order in
/// which they were decoded; threads decode different chunks at once.
/// @param spec With chunk extents. `chunks_kept` is set.
/// @param fill Bytes of one element: the fill value, in the machine's byte order.
/// @param cache_bytes Memory for decoded chunks. At least four are kept even if they take more.
/// @throws usage_error if there are 2^32 chunks or more.
[[nodiscard]] array_ptr make_chunked_array(array_spec spec,
                                           std::unique_ptr<const chunk_source> chunks,
                                           std::vector<std::byte> fill, std::size_t cache_bytes);

}  // namespace feedline::detail
