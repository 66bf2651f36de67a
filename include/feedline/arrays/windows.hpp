#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a window's position along an axis follows from the sample.
enum class window_position : std::uint8_t {
  grid,    ///< from the sample's number
  random,  ///< drawn uniformly among all positions, keyed by (seed, epoch, sample)
};

/// Policy for windows that would extend beyond the array.
enum class window_edges : std::uint8_t {
  drop,  ///< there is no such window: all lie within the array
  /// There is a window for each position in the array; elements beyond it are `window_field::pad`.
  pad,
  /// The same; elements beyond are the array's, mirrored at its first and last one, which are not
  /// repeated, as in numpy.pad(mode="reflect").
  reflect,
};

/// Indices [begin, end) along an axis.
struct index_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const index_range&, const index_range&) = default;
};

/// Windows along one axis. A window at position p has elements p, p + step, …
///
///     window{"time", 4, 1, 6}   // 4 times, 6 apart; a sample begins at each time
///     window{-1}                // a sample for each index of the last axis
struct window {
  array_axis axis;
  std::uint64_t size = 1;    ///< number of elements
  std::uint64_t stride = 1;  ///< distance between the positions of consecutive windows
  std::uint64_t step = 1;    ///< distance between elements of a window
  window_position position = window_position::grid;
  window_edges edges = window_edges::drop;
  /// No window has an element here, or elements on both sides of it. A range without elements,
  /// such as {20, 20}, keeps windows from extending over index 20, where another run begins.
  std::vector<index_range> excluded = {};
  /// Whether samples keep the axis. False requires size 1 in all fields.
  bool keep_axis = true;
  /// Extent of regions along the axis, in elements; 0: there are none. Consecutive samples have
  /// their positions in one region, so that `shuffle{.within = chunks(n)}` stays among n regions,
  /// and reads each chunk of these once. A region also needs the chunks that its windows reach
  /// into: regions of c chunks along each axis read about (1 + (s + 1) / c)^axes times the array in
  /// an epoch, for windows of s chunks.
  ///
  /// Random positions are divided into regions of equal numbers of positions, of at most this
  /// extent, and each region has the same number of samples in each epoch: each position is as
  /// likely as without regions. On a grid only the first window can have regions, if no random one
  /// has.
  std::uint64_t region = 0;
};

/// How a field's window differs from the sample's along one axis.
struct field_window {
  array_axis axis;                         ///< equal to the axis of one of the windows
  std::int64_t offset = 0;                 ///< elements from the window's position to the field's
  std::optional<std::uint64_t> size = {};  ///< empty: the window's
  std::optional<std::uint64_t> step = {};  ///< empty: the window's
};

/// A field of the samples: the window of one array, or of several that are stacked as channels.
struct window_field {
  std::string name;
  std::vector<array_ptr> arrays;           ///< at least one, of one type
  std::vector<field_window> windows = {};  ///< axes along which it differs
  /// Axes whose elements become channels, such as levels. Arrays without such an axis are one
  /// channel. If there are several arrays, or an axis here, the channels are an axis of the sample.
  std::vector<array_axis> channels = {};
  std::size_t channel_axis = 0;  ///< position of the channels in the sample's shape
  double pad = 0;                ///< for `window_edges::pad`
};

/// Options for `make_windows`.
struct window_options {
  /// Samples at each position of the grid, each with its own random positions; also the number of
  /// samples if all windows are random.
  std::uint64_t draws = 1;
};

/// A dataset whose samples are windows of arrays. Reads gather straight from the arrays into the
/// batch; nothing else is copied, and a sample is planned in O(1).
///
///     auto t = open_hdf5_array("era5.nc", "t2m");
///     auto set = make_windows({{"time"}},
///                             {{"input", {t}, {{.axis = "time", .offset = -6, .size = 2,
///                                               .step = 6}}},
///                              {"target", {t}, {{.axis = "time", .offset = 6}}}});
///
/// The samples are the positions of all windows: the first window's position changes slowest, and
/// draws change fastest. With `drop`, positions are those where every field lies within the array,
/// `stride` apart from the first one. With `pad` and `reflect`, they are 0, stride, 2 × stride, …
/// An axis without a window is in each sample as a whole. Arrays that do not have a window's
/// axis by name, such as coordinates or a map of heights, are the same at all its positions. All
/// extents along one window's axis are equal, and so are the coordinates (values and units of
/// dimension scales), where two arrays have some: two years, or two grids, are never one sample.
/// The same holds along all axes of arrays that are stacked in one field.
///
/// A chunk that several samples of a read need is decoded once, and kept while memory allows.
/// `chunks()` follows the regions, or without them the chunks along the first axis:
/// `shuffle{.within = …}` then stays among those that are kept. Packed numbers
/// (`array_spec::packing`) are read as stored, and the log warns of it: use `unpack`.
///
/// With `decode_on::device` a device decodes the chunks and cuts the windows out of them, in fields
/// all of whose arrays are chunked, of at most 8 dimensions, and neither computed nor joined from
/// others.
/// @param windows At least one. @param fields At least one.
/// @throws usage_error naming array, axis and value: no such axis, sizes, strides or steps of 0,
/// windows larger than the array, extents, types or coordinates that differ, no position left by
/// the excluded ranges, more samples than 62 bits count, a pad that is no value of the type,
/// regions along a window that cannot have them, draws that are not a multiple of the number of
/// regions, at least 2 of each.
[[nodiscard]] dataset_ptr make_windows(std::vector<window> windows,
                                       std::vector<window_field> fields,
                                       const window_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
