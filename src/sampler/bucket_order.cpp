#include "sampler/bucket_order.hpp"

#include <feedline/error.hpp>

#include "detail/sample_range.hpp"
#include "sampler/bijection.hpp"
#include "sampler/draws.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Make the keys of the bijections differ from those of other orders; odd, otherwise arbitrary.
constexpr std::uint64_t batch_role = 0xA24B'AED4'963E'E407;
constexpr std::uint64_t bucket_role = 0x9FB2'1C65'1E98'DF25;
constexpr std::uint64_t tail_role = 0xD6E8'FEB8'6659'FD93;

/// Parts of all buckets' orders, one after another.
struct line {
  std::vector<std::uint64_t> before{0};  ///< samples of the parts before each, and of all
  std::vector<std::uint64_t> starts;     ///< where in its bucket's order each part begins

  void add(std::uint64_t start, std::uint64_t samples) {
    starts.push_back(start);
    before.push_back(before.back() + samples);
  }
};

/// The layout of one epoch.
class epoch_layout {
 public:
  epoch_layout(const length_buckets& buckets, std::uint64_t seed, std::uint64_t epoch,
               std::uint64_t batch_size)
      : buckets_{buckets},
        batch_size_{batch_size},
        whole_{buckets.samples() / batch_size},
        places_{whole_, seed ^ batch_role, epoch},
        bucket_seed_{epoch_key(seed ^ bucket_role, epoch)} {
    const std::uint64_t samples = buckets.samples();
    const std::uint64_t tail = samples % batch_size;
    if (samples == 0) return;
    const std::uint64_t from = epoch_key(seed ^ tail_role, epoch) % samples;
    const std::uint64_t to = std::min(from + tail, samples);
    const std::uint64_t wrapped = tail - (to - from);  // this many of the first samples too
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
      const std::uint64_t size = buckets.size(bucket);
      const std::uint64_t end = begin + size;
      const std::uint64_t low = std::clamp(from, begin, end);
      const std::uint64_t aside =
          std::clamp(to, begin, end) - low + (std::clamp(wrapped, begin, end) - begin);
      const std::uint64_t in_batches = (size - aside) / batch_size * batch_size;
      batches_.add(0, in_batches);
      rests_.add(in_batches, size - aside - in_batches);
      tail_.add(size - aside, aside);
      begin = end;
    }
  }

  /// Writes the samples at some positions from `first` on, of one batch; says how many.
  std::size_t write(std::uint64_t first, std::span<sample_index> out) const noexcept {
    const std::uint64_t place = first / batch_size_;
    const std::uint64_t at = first % batch_size_;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), batch_size_ - at));
    if (place == whole_) {
      write_line(tail_, at, run);
      return run.size();
    }
    sample_index batch{};
    places_.evaluate(position{place}, {&batch, 1});
    const std::uint64_t begin = batch.value * batch_size_ + at;
    const std::uint64_t in_batches = batches_.before.back();
    if (begin < in_batches)
      write_line(batches_, begin, run);
    else
      write_line(rests_, begin - in_batches, run);
    return run.size();
  }

 private:
  void write_line(const line& parts, std::uint64_t at, std::span<sample_index> out) const noexcept {
    while (!out.empty()) {
      const std::size_t bucket = part_at(parts.before, at) - 1;  // those with no part are passed
      const auto run =
          out.first(std::min<std::uint64_t>(out.size(), parts.before[bucket + 1] - at));
      const std::uint64_t number = parts.starts[bucket] + (at - parts.before[bucket]);
      bijection{buckets_.size(bucket), bucket_seed_, bucket}.evaluate(position{number}, run);
      buckets_.to_samples(bucket, run);
      out = out.subspan(run.size());
      at += run.size();
    }
  }

  const length_buckets& buckets_;
  std::uint64_t batch_size_;
  std::uint64_t whole_;  ///< batches
  bijection places_;     ///< order of the whole batches
  std::uint64_t bucket_seed_;
  line batches_;  ///< samples of the whole batches of one bucket each
  line rests_;    ///< samples of the other whole batches
  line tail_;     ///< samples that end the epoch
};

}  // namespace

length_buckets::length_buckets(std::span<const std::uint64_t> lengths,
                               std::vector<std::uint64_t> boundaries, std::uint64_t max_narrow)
    : boundaries_{std::move(boundaries)}, begins_(boundaries_.size() + 2) {
  for (const std::uint64_t length : lengths) ++begins_[part_at(boundaries_, length) + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];

  if (lengths.size() > max_narrow) table_ = std::vector<std::uint64_t>{};
  std::visit(
      [&](auto& table) {
        using number = typename std::remove_reference_t<decltype(table)>::value_type;
        table.resize(lengths.size());
        std::vector<std::uint64_t> next = begins_;
        for (std::size_t i = 0; i < lengths.size(); ++i)
          table[next[part_at(boundaries_, lengths[i])]++] = static_cast<number>(i);
      },
      table_);
}

std::size_t length_buckets::table_bytes() const noexcept {
  return samples() * (table_.index() == 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t));
}

void length_buckets::to_samples(std::size_t bucket,
                                std::span<sample_index> numbers) const noexcept {
  const std::uint64_t begin = begins_[bucket];
  if (const auto* narrow = std::get_if<0>(&table_))
    for (sample_index& number : numbers) number = {(*narrow)[begin + number.value]};
  else if (const auto* wide = std::get_if<1>(&table_))
    for (sample_index& number : numbers) number = {(*wide)[begin + number.value]};
}

bucket_order::bucket_order(std::shared_ptr<const length_buckets> buckets, std::uint64_t seed,
                           std::uint64_t batch_size)
    : buckets_{std::move(buckets)}, seed_{seed}, batch_size_{batch_size} {}

std::uint64_t bucket_order::whole_batches() const noexcept {
  return buckets_->samples() / batch_size_;
}

std::uint64_t bucket_order::mixed_batches() const noexcept {
  std::uint64_t mixed = whole_batches();
  for (std::size_t i = 0; i < buckets_->count(); ++i) mixed -= buckets_->size(i) / batch_size_;
  return mixed;
}

std::uint64_t bucket_order::size(std::uint64_t samples) const {
  if (samples != buckets_->samples())
    throw usage_error{"bucket_by_length: there are " + std::to_string(buckets_->samples()) +
                      " lengths, but the dataset has " + std::to_string(samples) +
                      " samples; give it the lengths of these"};
  return samples;
}

void bucket_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                           std::span<sample_index> out) const {
  (void)size(samples);
  assert(first.value <= samples && out.size() <= samples - first.value);
  if (out.empty()) return;
  const epoch_layout layout{*buckets_, seed_, epoch, batch_size_};
  for (std::uint64_t next = first.value; !out.empty();) {
    const std::size_t written = layout.write(next, out);
    out = out.subspan(written);
    next += written;
  }
}

}  // namespace feedline::detail
