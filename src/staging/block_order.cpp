#include "staging/block_order.hpp"

#include <feedline/sampler/sequential.hpp>

#include "detail/arithmetic.hpp"
#include "sampler/chunk_order.hpp"
#include "sampler/rank_order.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {

std::optional<block_order> block_order::of(const sampler& order, const epoch_share& share,
                                           std::uint64_t samples, std::uint64_t rows,
                                           std::string& why) {
  if (rows == 1)
    return block_order{order_of(order, share), nullptr, share, samples, rows, share.places()};
  if (share.first_repeat() < share.places()) {
    why = "an epoch ends with samples of its beginning, and blocks have " + std::to_string(rows);
    return std::nullopt;
  }
  if (order.target<sequential>() != nullptr) {
    if (share.world == 1) return block_order{order, nullptr, share, samples, rows, samples};
    why = "a rank takes whole runs of a sequential order, and would decode all blocks";
    return std::nullopt;
  }
  const auto* const chunks = order.target<chunk_order>();
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
  return block_order{order, chunks, share, samples, rows, samples};
}

std::uint64_t block_order::blocks() const noexcept {
  return divide_up(positions_, rows_);
}

std::uint64_t block_order::max_window() const noexcept {
  return chunks_ == nullptr ? 1 : divide_up(blocks(), std::min(chunks_->windows(), blocks()));
}

std::uint64_t block_order::blocks_of(std::uint64_t samples) const noexcept {
  return divide_up(chunks_ == nullptr ? samples : samples * share_.world, rows_);
}

block_order::window block_order::window_of(std::uint64_t epoch, position at) const noexcept {
  if (chunks_ == nullptr) {
    const std::uint64_t place = at.value / rows_;
    return {place, place + 1, place * rows_, std::min(positions_, (place + 1) * rows_)};
  }
  const auto found = chunks_->layout(samples_, epoch)->window_of(share_.at(at.value).value);
  return {found.first_place, found.end_place, share_.places_before(found.first_row),
          share_.places_before(found.end_row)};
}

void block_order::locate(std::uint64_t epoch, position first,
                         std::span<sample_index> out) const noexcept {
  if (chunks_ == nullptr) {
    for (sample_index& each : out) each = sample_index{first.value++};
    return;
  }
  const auto layout = *chunks_->layout(samples_, epoch);
  for (std::uint64_t own = first.value; !out.empty();) {
    const std::uint64_t of_batch = share_.batch_size - own % share_.batch_size;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), of_batch));
    const std::size_t written = layout.write_places(share_.at(own).value, run);
    out = out.subspan(written);
    own += written;
  }
}

void block_order::blocks(std::uint64_t epoch, std::uint64_t first,
                         std::span<sample_index> out) const noexcept {
  if (chunks_ != nullptr) return chunks_->layout(samples_, epoch)->chunks(first, out);
  if (rows_ == 1) return ask_sampler(epoch, first, out);
  for (sample_index& each : out) each = sample_index{first++};
}

void block_order::ask_sampler(std::uint64_t epoch, std::uint64_t first,
                              std::span<sample_index> out) const noexcept {
  try {
    held_.indices(samples_, epoch, position{first}, out);
  } catch (...) {  // told where the sample is delivered; those beside it may be known
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
