#pragma once

#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include "sampler/epoch_share.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

class chunk_order;

/// An order of samples that takes a dataset's blocks a window after the other, and each block once:
/// what devices need that decode blocks. "Place": of a block, in the epoch's order of blocks.
///
/// Where a block is a sample every order is one: a block stands at each position, and comes as
/// often as its sample does. Else such are `sequential`, whose windows are single blocks, and
/// `shuffle{.within = chunks(n)}` with one lane, over chunks that are the blocks.
///
/// Positions are those of one rank. Where a block is a sample, so are places. Else each rank has
/// all blocks of the epoch, for its samples are of all of them; and where it ends with samples of
/// the epoch's beginning, the first blocks come again behind the last. Cheap to copy; keeps the
/// sampler. Any thread.
class block_order {
 public:
  /// Stands for a block where the sampler fails, or gives a sample that is none of the dataset's.
  static constexpr sample_index none{UINT64_MAX};

  /// A part of an epoch: its blocks' places, and its samples' positions.
  struct window {
    std::uint64_t first_place;
    std::uint64_t end_place;
    std::uint64_t first;
    std::uint64_t end;
  };

  /// @param order Bound, of all ranks. @param share The rank's part of it.
  /// @param samples Of the dataset. @param rows Of a block.
  /// @param why   What is in the way, if nothing is returned.
  [[nodiscard]] static std::optional<block_order> of(const sampler& order, const epoch_share& share,
                                                     std::uint64_t samples, std::uint64_t rows,
                                                     std::string& why);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// Of an epoch, with those that come again.
  [[nodiscard]] std::uint64_t blocks() const noexcept { return own_blocks_ + repeated_blocks_; }
  /// No window has more blocks.
  [[nodiscard]] std::uint64_t max_window() const noexcept;

  /// How many blocks so many samples behind each other may come through, whole ones.
  [[nodiscard]] std::uint64_t blocks_of(std::uint64_t samples) const noexcept;

  /// The window of a position that is in the epoch.
  [[nodiscard]] window window_of(std::uint64_t epoch, position at) const noexcept;
  /// Where the samples at `first` and behind it lie: place × rows() + row in the block.
  void locate(std::uint64_t epoch, position first, std::span<sample_index> out) const noexcept;
  /// Which blocks stand at `first` and the places behind it; some may be `none`.
  void blocks(std::uint64_t epoch, std::uint64_t first, std::span<sample_index> out) const noexcept;

 private:
  block_order(sampler held, const chunk_order* chunks, const epoch_share& share,
              std::uint64_t samples, std::uint64_t rows) noexcept;

  /// The window of a position of the epoch's order, with its positions there.
  [[nodiscard]] window epoch_window(std::uint64_t epoch, std::uint64_t at) const noexcept;

  void ask_sampler(std::uint64_t epoch, std::uint64_t first,
                   std::span<sample_index> out) const noexcept;

  sampler held_;
  const chunk_order* chunks_;  ///< within it; null: sequential, or a block is a sample
  epoch_share share_;
  std::uint64_t samples_;
  std::uint64_t rows_;
  std::uint64_t own_blocks_;           ///< of an epoch, each once
  std::uint64_t repeated_blocks_ = 0;  ///< that come again, at most
};

}  // namespace feedline::detail
