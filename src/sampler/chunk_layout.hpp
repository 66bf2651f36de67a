#pragma once

#include <feedline/index.hpp>

#include "sampler/bijection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// A number of things in parts that are equal to within one, the longer ones first.
struct equal_parts {
  std::uint64_t fewest = 0;  ///< least number of things in a part,
  std::uint64_t longer = 0;  ///< and these first parts have one more

  constexpr equal_parts(std::uint64_t things, std::uint64_t parts) noexcept
      : fewest{things / parts}, longer{things % parts} {}

  /// The first thing of a part; for the index after the last part, the number of things.
  [[nodiscard]] constexpr std::uint64_t begin(std::uint64_t part) const noexcept {
    return part * fewest + std::min(part, longer);
  }
  [[nodiscard]] constexpr std::uint64_t size(std::uint64_t part) const noexcept {
    return fewest + (part < longer ? 1 : 0);
  }
  /// The part of a thing.
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t thing) const noexcept {
    const std::uint64_t in_longer = longer * (fewest + 1);
    return thing < in_longer ? thing / (fewest + 1) : longer + (thing - in_longer) / fewest;
  }
};

/// The layout of one epoch of a `chunk_order`: lane after lane, each a window after the other.
/// Chunks are numbered by their index in the epoch's order of chunks, and samples ("rows") by their
/// index in this order of samples.
class chunk_layout {
 public:
  /// @param samples At least 1, like the other numbers. @param windows Windows of each lane.
  chunk_layout(std::uint64_t seed, std::uint64_t epoch, std::uint64_t samples,
               std::uint64_t chunk_samples, std::uint64_t windows, std::uint64_t lanes) noexcept;

  /// Writes the samples at rows of one window from `first` on, until the window or `out` ends;
  /// returns how many.
  std::size_t write(std::uint64_t first, std::span<sample_index> out) const noexcept;
  /// The same, but with the index of each sample's chunk in the epoch's order instead of the
  /// chunk's number: index × samples of a chunk + row in the chunk.
  std::size_t write_places(std::uint64_t first, std::span<sample_index> out) const noexcept;

  /// A window: its first chunk and the end of its chunks, and the same of its rows.
  struct extent {
    std::uint64_t first_place;
    std::uint64_t end_place;
    std::uint64_t first_row;
    std::uint64_t end_row;
  };
  /// The window that a row is in.
  [[nodiscard]] extent window_of(std::uint64_t row) const noexcept;
  /// Writes the chunks at index `first` and the following ones of the epoch's order.
  void chunks(std::uint64_t first, std::span<sample_index> out) const noexcept {
    for (sample_index& each : out) each = sample_index{first++};
    places_.evaluate(out);
  }

  /// The first row of a lane; for the index after the last lane, the number of samples.
  [[nodiscard]] std::uint64_t lane_begin(std::uint64_t lane) const noexcept {
    return rows_before(lanes_.begin(lane));
  }
  /// Rows of the shortest lane.
  [[nodiscard]] std::uint64_t shortest_lane() const noexcept;

  /// Row number `at` of the rows that remain in all lanes after `taken` rows of each: lane after
  /// lane. @param taken At most `shortest_lane()`.
  [[nodiscard]] std::uint64_t left_row(std::uint64_t taken, std::uint64_t at) const noexcept;

 private:
  struct window {
    std::uint64_t number;  ///< in all lanes
    std::uint64_t first;   ///< index of its first chunk,
    std::uint64_t end;     ///< and end of its chunks
  };
  [[nodiscard]] window window_at(std::uint64_t place) const noexcept;

  /// Samples of all chunks before an index.
  [[nodiscard]] std::uint64_t rows_before(std::uint64_t place) const noexcept {
    return place * chunk_samples_ - (place > short_place_ ? missing_ : 0);
  }
  /// The window that a row is in, if it were of full chunks.
  [[nodiscard]] window window_with(std::uint64_t row) const noexcept;
  template <bool AsPlaces>
  std::size_t write_rows(std::uint64_t first, std::span<sample_index> out) const noexcept;
  template <bool AsPlaces>
  void to_samples(std::uint64_t first_place, std::uint64_t begin, std::uint64_t numbers,
                  std::span<sample_index> run) const noexcept;

  std::uint64_t chunk_samples_;
  std::uint64_t chunks_;
  std::uint64_t max_windows_;  ///< windows of a lane
  equal_parts lanes_;          ///< lanes of chunks
  equal_parts windows_;        ///< windows of a lane that has the fewest chunks
  std::uint64_t missing_;      ///< samples that the last chunk is short of the others
  bijection places_;           ///< the epoch's order of chunks
  std::uint64_t window_seed_;
  std::uint64_t short_place_ = UINT64_MAX;  ///< index of the last chunk, if it is short
  std::uint64_t short_end_ = UINT64_MAX;    ///< where the rows of its window end
};

}  // namespace feedline::detail
