#include "rows/decoded/cached_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Approximate size of the memory through which parts of rows pass.
constexpr std::size_t tile_piece_bytes = std::size_t{1} << 20;

class tiled_rows final : public field_rows {
 public:
  tiled_rows(row_extent extent, std::unique_ptr<const chunk_blocks> blocks,
             std::unique_ptr<const decoded_blocks> tiles, std::uint64_t max_cached)
      : field_rows{std::move(extent)},
        blocks_{std::move(blocks)},
        rows_per_tile_{blocks_->rows_per_block()},
        part_bytes_{blocks_->chunk_value_bytes() / rows_per_tile_},
        parts_{{.rows = blocks_->chunks() * rows_per_tile_,
                .row_bytes = part_bytes_,
                .rows_per_chunk = rows_per_tile_,
                .chunks_kept = std::min(max_cached, blocks_->chunks())},
               std::move(tiles)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override;

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    std::vector<sample_index> parts;
    for (const sample_index sample : samples)
      for (std::uint64_t column = 0; sample.value < size() && column < blocks_->chunks_per_block();
           ++column)
        parts.push_back(part_of(sample, column));
    parts_.prefetch(parts);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  bool is_cold() const noexcept override { return field_rows::is_cold() || parts_.is_cold(); }

 private:
  /// Index of a row's part in `parts_`. @param column Column of tiles.
  [[nodiscard]] sample_index part_of(sample_index sample, std::uint64_t column) const noexcept {
    const std::uint64_t row_of_tiles = sample.value / rows_per_tile_;
    const std::uint64_t tile = row_of_tiles * blocks_->chunks_per_block() + column;
    return {tile * rows_per_tile_ + sample.value % rows_per_tile_};
  }
  void read_columns(std::span<const sample_index> samples, std::uint64_t first,
                    std::uint64_t columns, std::byte* out) const;

  std::unique_ptr<const chunk_blocks> blocks_;
  const std::uint64_t rows_per_tile_;
  const std::size_t part_bytes_;  ///< bytes of a row's part in a tile, including padding
  cached_rows parts_;             ///< its blocks are tiles, and its rows are parts of rows
};

void tiled_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  if (samples.empty()) return;
  const std::uint64_t columns = blocks_->chunks_per_block();
  const std::uint64_t together =
      std::clamp<std::uint64_t>(tile_piece_bytes / (samples.size() * part_bytes_), 1, columns);
  try {
    for (std::uint64_t column = 0; column < columns; column += together)
      read_columns(samples, column, std::min(together, columns - column), out);
  } catch (const dataset_error& failure) {
    const std::uint64_t part = failure.where().sample.value_or(0);
    const std::uint64_t row_of_tiles = part / rows_per_tile_ / columns;
    const sample_index lost{row_of_tiles * rows_per_tile_ + part % rows_per_tile_};
    // If several samples cannot be read, the run's first one is named.
    for (std::size_t i = 0; i < samples.size() && samples[i] != lost; ++i)
      read(samples.subspan(i, 1), out + i * row_bytes());
    blocks_->fail(failure, lost.value);
  }
}

/// Reads column by column, so that each tile is needed once, even if samples share it.
void tiled_rows::read_columns(std::span<const sample_index> samples, std::uint64_t first,
                              std::uint64_t columns, std::byte* out) const {
  struct piece {
    std::uint64_t tile;
    std::span<std::byte> row;
  };
  std::vector<sample_index> wanted;
  std::vector<piece> pieces;
  for (std::uint64_t column = first; column < first + columns; ++column)
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const sample_index part = part_of(samples[i], column);
      const piece to{part.value / rows_per_tile_, {out + i * row_bytes(), row_bytes()}};
      if (blocks_->is_written(to.tile)) {
        wanted.push_back(part);
        pieces.push_back(to);
      } else {
        blocks_->put_fill_part(to.tile, to.row);
      }
    }
  std::vector<std::byte> values(wanted.size() * part_bytes_);
  parts_.read(wanted, values.data());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    blocks_->put_row_part(pieces[i].tile, values.data() + i * part_bytes_, pieces[i].row);
}

}  // namespace

std::unique_ptr<const field_rows> make_tiled_rows(row_extent extent,
                                                  std::unique_ptr<const chunk_blocks> blocks,
                                                  std::unique_ptr<const decoded_blocks> tiles,
                                                  std::uint64_t max_cached) {
  // If less than a row of tiles is cached, no order of samples would decode each tile only once.
  if (const std::uint64_t kept = max_cached / blocks->chunks_per_block(); kept != 0) {
    extent.rows_per_chunk = blocks->rows_per_block();
    extent.chunks_kept = kept;
  }
  return std::make_unique<const tiled_rows>(std::move(extent), std::move(blocks), std::move(tiles),
                                            max_cached);
}

}  // namespace feedline::detail
