#pragma once

#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include "sampler/epoch_share.hpp"
#include "sampler/rank_order.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

class chunk_order;

/// An order of samples that takes a dataset's blocks window by window, each block once;
/// devices that decode blocks need such an order. Blocks are numbered by their index in the epoch's
/// order of blocks.
///
/// If a block is a single sample, every order is a block order: each position has one block, which
/// comes as often as its sample does. Otherwise these orders are: `sequential`, whose windows are
/// single blocks, and `shuffle{.within = chunks(n)}` with one lane, over chunks that are the
/// blocks.
///
/// Positions are those of one rank. If a block is a single sample, block indices are per rank too.
/// Otherwise each rank has all blocks of the epoch, because its samples are spread over all of
/// them; and if the rank ends with samples from the epoch's beginning, the first blocks are
/// repeated after the last. Cheap to copy; keeps the sampler. Any thread.
class block_order {
 public:
  /// Given instead of a block if the sampler fails, or gives an invalid sample.
  static constexpr sample_index none{UINT64_MAX};

  /// A part of an epoch: indices of its blocks, and positions of its samples.
  struct window {
    std::uint64_t first_place;
    std::uint64_t end_place;
    std::uint64_t first;
    std::uint64_t end;
  };

  /// @param samples Size of the dataset. @param rows Samples of a block.
  /// @param why   The reason if nothing is returned.
  [[nodiscard]] static std::optional<block_order> of(const shared_order& order,
                                                     std::uint64_t samples, std::uint64_t rows,
                                                     std::string& why);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// Number of blocks of an epoch, with repeated ones.
  [[nodiscard]] std::uint64_t blocks() const noexcept { return own_blocks_ + repeated_blocks_; }
  /// No window has more blocks.
  [[nodiscard]] std::uint64_t max_window() const noexcept;

  /// The most blocks that this many consecutive samples use up completely.
  [[nodiscard]] std::uint64_t blocks_of(std::uint64_t samples) const noexcept;

  /// The window of a position that is in the epoch.
  [[nodiscard]] window window_of(std::uint64_t epoch, position at) const noexcept;
  /// The position in the epoch's order, over all ranks, of the block at an index, if a block is a
  /// single sample.
  [[nodiscard]] position in_epoch(std::uint64_t index) const noexcept { return share_.at(index); }
  /// Writes where the samples at `first` and the following positions are: block index × rows() +
  /// row in the block.
  void locate(std::uint64_t epoch, position first, std::span<sample_index> out) const noexcept;
  /// Writes the blocks at index `first` and the following ones; some may be `none`.
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
  std::uint64_t own_blocks_;           ///< blocks of an epoch, each once
  std::uint64_t repeated_blocks_ = 0;  ///< the most blocks that are repeated
};

}  // namespace feedline::detail
