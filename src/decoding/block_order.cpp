#include "decoding/block_order.hpp"

#include <feedline/sampler/sequential.hpp>

#include "detail/arithmetic.hpp"
#include "sampler/chunk_order.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {

namespace {

/// End of the last position of the epoch's order that is repeated, counted from its beginning; 0:
/// none is.
std::uint64_t repeated_end(const epoch_share& share) noexcept {
  if (share.first_repeat() == share.places()) return 0;
  return share.at(share.places() - 1).value + 1 - share.positions;
}

}  // namespace

block_order::block_order(sampler held, const chunk_order* chunks, const epoch_share& share,
                         std::uint64_t samples, std::uint64_t rows) noexcept
    : held_{std::move(held)},
      chunks_{chunks},
      share_{share},
      samples_{samples},
      rows_{rows},
      own_blocks_{rows == 1 ? share.places() : divide_up(samples, rows)} {
  if (rows == 1) return;
  // One block is shorter than the others, perhaps the first.
  const std::uint64_t end = repeated_end(share);
  const std::uint64_t repeated = end == 0 ? 0 : divide_up(end, rows) + 1;
  const std::uint64_t least_window =
      chunks == nullptr ? 1 : std::max<std::uint64_t>(own_blocks_ / chunks->windows(), 1);
  repeated_blocks_ = std::min(own_blocks_, divide_up(repeated, least_window) * max_window());
}

std::optional<block_order> block_order::of(const shared_order& order, std::uint64_t samples,
                                           std::uint64_t rows, std::string& why) {
  const epoch_share& share = order.share;
  if (rows == 1) return block_order{order.own, nullptr, share, samples, rows};
  if (repeated_end(share) > share.positions) {
    why = "an epoch is so short that its samples come more than twice";
    return std::nullopt;
  }
  if (order.all.target<sequential>() != nullptr) {
    if (share.world == 1) return block_order{order.all, nullptr, share, samples, rows};
    why = "a rank takes whole runs of a sequential order, and would decode all blocks";
    return std::nullopt;
  }
  const auto* const chunks = order.all.target<chunk_order>();
  if (chunks == nullptr || !chunks->layout(samples, 0)) {
    why =
        "the order does not take blocks window after window: use sequential, or "
        "shuffle{.within = chunks(n)} with one lane and several windows, where a block has "
        "several samples";
    return std::nullopt;
  }
  if (chunks->chunk_samples() != rows) {
    why = "the order's windows are of chunks of " + std::to_string(chunks->chunk_samples()) +
          " samples, and blocks have " + std::to_string(rows);
    return std::nullopt;
  }
  return block_order{order.all, chunks, share, samples, rows};
}

std::uint64_t block_order::max_window() const noexcept {
  return chunks_ == nullptr ? 1 : divide_up(own_blocks_, std::min(chunks_->windows(), own_blocks_));
}

std::uint64_t block_order::blocks_of(std::uint64_t samples) const noexcept {
  return divide_up(rows_ == 1 ? samples : samples * share_.world, rows_);
}

block_order::window block_order::epoch_window(std::uint64_t epoch,
                                              std::uint64_t at) const noexcept {
  if (chunks_ == nullptr) {
    const std::uint64_t place = at / rows_;
    return {place, place + 1, place * rows_, std::min(samples_, (place + 1) * rows_)};
  }
  const auto found = chunks_->layout(samples_, epoch)->window_of(at);
  return {found.first_place, found.end_place, found.first_row, found.end_row};
}

block_order::window block_order::window_of(std::uint64_t epoch, position at) const noexcept {
  if (rows_ == 1) return {at.value, at.value + 1, at.value, at.value + 1};
  const std::uint64_t there = share_.at(at.value).value;
  if (there < share_.positions) {
    const window whole = epoch_window(epoch, there);
    return {whole.first_place, whole.end_place, share_.places_before(whole.first),
            share_.places_before(whole.end)};
  }
  const window whole = epoch_window(epoch, there - share_.positions);
  const std::uint64_t first_repeat = share_.first_repeat();
  const std::uint64_t skipped = share_.at(first_repeat).value - share_.positions;
  return {own_blocks_ + whole.first_place, own_blocks_ + whole.end_place,
          first_repeat + std::max(whole.first, skipped) - skipped,
          std::min(first_repeat + whole.end - skipped, share_.places())};
}

void block_order::locate(std::uint64_t epoch, position first,
                         std::span<sample_index> out) const noexcept {
  if (rows_ == 1) {
    for (sample_index& each : out) each = sample_index{first.value++};
    return;
  }
  const auto layout = chunks_ == nullptr ? std::nullopt : chunks_->layout(samples_, epoch);
  for (std::uint64_t own = first.value; !out.empty();) {
    const std::uint64_t there = share_.at(own).value;
    const bool again = there >= share_.positions;
    std::uint64_t from = again ? there - share_.positions : there;
    const std::uint64_t of_batch = share_.batch_size - own % share_.batch_size;
    auto run = out.first(std::min<std::uint64_t>({out.size(), of_batch, share_.positions - from}));
    if (layout) {
      run = run.first(layout->write_places(from, run));
    } else {
      for (sample_index& each : run) each = sample_index{from++};
    }
    if (again)
      for (sample_index& each : run) each.value += own_blocks_ * rows_;
    out = out.subspan(run.size());
    own += run.size();
  }
}

void block_order::blocks(std::uint64_t epoch, std::uint64_t first,
                         std::span<sample_index> out) const noexcept {
  if (rows_ == 1) return ask_sampler(epoch, first, out);
  while (!out.empty()) {
    std::uint64_t place = first % own_blocks_;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), own_blocks_ - place));
    if (chunks_ != nullptr) {
      chunks_->layout(samples_, epoch)->chunks(place, run);
    } else {
      for (sample_index& each : run) each = sample_index{place++};
    }
    out = out.subspan(run.size());
    first += run.size();
  }
}

void block_order::ask_sampler(std::uint64_t epoch, std::uint64_t first,
                              std::span<sample_index> out) const noexcept {
  try {
    held_.indices(samples_, epoch, position{first}, out);
  } catch (...) {  // reported where the sample is delivered; other samples of the window may still
                   // be known
    if (out.size() == 1) {
      out.front() = none;
    } else {
      for (sample_index& each : out) ask_sampler(epoch, first++, {&each, 1});
    }
    return;
  }
  for (sample_index& each : out)
    if (each.value >= samples_) each = none;
}

}  // namespace feedline::detail
