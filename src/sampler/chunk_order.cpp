#include "sampler/chunk_order.hpp"

#include "detail/arithmetic.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace feedline::detail {
namespace {

/// Distributes the samples by which lanes are unequal to the batches that end the epoch: each batch
/// has some of every lane, in the lanes' order, so that a rank finds most of its part in its own
/// lanes.
class end_batches {
 public:
  end_batches(std::uint64_t samples, std::uint64_t batch_size) noexcept
      : batch_size_{batch_size}, whole_{samples / batch_size}, rest_{samples % batch_size} {}

  /// The sample, counted lane after lane, at a position.
  [[nodiscard]] std::uint64_t at(std::uint64_t position) const noexcept {
    const std::uint64_t in_whole = whole_ * batch_size_;
    // The last batch takes every so-many-th sample, and the others share those between them.
    if (position >= in_whole) {
      const std::uint64_t number = position - in_whole;
      return number + divide_up((number + 1) * in_whole, rest_);
    }
    const std::uint64_t number = position % batch_size_ * whole_ + position / batch_size_;
    return number + number * rest_ / in_whole;
  }

 private:
  std::uint64_t batch_size_;
  std::uint64_t whole_;  ///< batches
  std::uint64_t rest_;   ///< samples of the last batch
};

/// All rows from `first` on that `out` takes.
void write_all(const chunk_layout& layout, std::uint64_t first,
               std::span<sample_index> out) noexcept {
  while (!out.empty()) {
    const std::size_t written = layout.write(first, out);
    out = out.subspan(written);
    first += written;
  }
}

}  // namespace

std::optional<chunk_layout> chunk_order::layout(std::uint64_t samples,
                                                std::uint64_t epoch) const noexcept {
  if (windows_ == 1 || lanes_.count != 1 || chunk_samples_ == 1 || chunk_samples_ >= samples)
    return std::nullopt;
  return chunk_layout{seed_, epoch, samples, chunk_samples_, windows_, 1};
}

void chunk_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                          std::span<sample_index> out) const noexcept {
  assert(first.value <= samples && out.size() <= samples - first.value);
  if (out.empty()) return;
  const bool one_window = windows_ == 1 && lanes_.count == 1;
  if (one_window || chunk_samples_ == 1 || chunk_samples_ >= samples)
    return bijection{samples, seed_, epoch}.evaluate(first, out);
  const chunk_layout layout{seed_, epoch, samples, chunk_samples_, windows_, lanes_.count};
  if (lanes_.count == 1) return write_all(layout, first.value, out);

  const std::uint64_t part = lanes_.batch_size / lanes_.count;  // samples of a batch from one lane
  const std::uint64_t batches = layout.shortest_lane() / part;
  const std::uint64_t in_batches = batches * lanes_.batch_size;
  std::uint64_t next = first.value;
  while (!out.empty() && next < in_batches) {
    const std::uint64_t in_batch = next % lanes_.batch_size;
    const std::uint64_t row = next / lanes_.batch_size * part + in_batch % part;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), part - in_batch % part));
    write_all(layout, layout.lane_begin(in_batch / part) + row, run);
    out = out.subspan(run.size());
    next += run.size();
  }
  if (out.empty()) return;
  const end_batches end{samples - in_batches, lanes_.batch_size};
  for (sample_index& each : out)
    write_all(layout, layout.left_row(batches * part, end.at(next++ - in_batches)), {&each, 1});
}

}  // namespace feedline::detail
