#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A box of a window, copied from a decoded chunk to a row, or filled with one value.
///
/// A unit is a power of two of bytes, at most 16, of which all addresses of the box are multiples.
/// Unit [k0, k1, …] goes from byte `from` + k0 × from_stride[0] + … of the chunk to byte `to` + k0
/// × to_stride[0] + … of the row.
struct window_box {
  static constexpr std::uint32_t max_rank = 8;
  static constexpr std::uint32_t no_chunk = 0xFFFF'FFFF;
  static constexpr std::uint32_t in_block = 0xFFFF'FFFE;

  std::uint32_t field = 0;  ///< in `block_store::chunks`
  /// There; `no_chunk`: all units are `fill`. For sparse rows also `in_block`: `from` counts from
  /// the block's begin.
  std::uint32_t place = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t unit = 1;   ///< in bytes
  std::uint32_t units = 0;  ///< product of the counts; at least 1
  std::uint32_t rank = 0;   ///< 0: one unit
  std::uint32_t reserved = 0;
  std::byte fill[16] = {};  ///< the value, repeated
  std::uint32_t count[max_rank] = {};
  std::int32_t from_stride[max_rank] = {};  ///< in bytes
  std::int32_t to_stride[max_rank] = {};
};

/// Begin of a block whose step is `block_filter::window`: it holds no values, but tells from which
/// chunks they are copied. Its boxes follow it.
///
/// The same for `block_filter::sparse_row`, but each two boxes are a run of values and the run of
/// their columns: `units` numbers of `unit` bytes, from byte `from` of a chunk on, or of the block
/// itself. The row is the sum of all values in their columns, in the order of the runs, and 0
/// elsewhere. A block with a column beyond the row does not decode.
struct window_block {
  /// The first boxes fill bytes that later ones may write again. All others are disjoint.
  std::uint32_t fills = 0;
  std::uint32_t boxes = 0;  ///< number of all boxes
  std::uint32_t reserved[2] = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
