#include "sampler/bucket_order.hpp"

#include <feedline/error.hpp>

#include "detail/splitmix64.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// What tells the keys of the bijections from those of other orders; odd, otherwise arbitrary.
constexpr std::uint64_t batch_role = 0xA24B'AED4'963E'E407;
constexpr std::uint64_t bucket_role = 0x9FB2'1C65'1E98'DF25;
constexpr std::uint64_t rest_role = 0xD6E8'FEB8'6659'FD93;

/// The last of `before` that is no more than `value`; empty buckets, equal to the next, are passed.
std::size_t place_in(const std::vector<std::uint64_t>& before, std::uint64_t value) noexcept {
  return static_cast<std::size_t>(std::upper_bound(before.begin(), before.end(), value) -
                                  before.begin()) -
         1;
}

}  // namespace

/// What an epoch draws.
struct bucket_order::drawing {
  bijection batches;          ///< which whole batch stands at a place
  std::uint64_t bucket_seed;  ///< of the buckets' own bijections
  std::uint64_t tail;         ///< samples behind all whole batches,
  std::uint64_t tail_place;   ///< and from where in the line of rests
};

bucket_order::bucket_order(std::shared_ptr<const length_buckets> buckets, std::uint64_t seed,
                           std::uint64_t batch_size)
    : buckets_{std::move(buckets)},
      seed_{seed},
      batch_size_{batch_size},
      batches_before_{0},
      rests_before_{0} {
  for (std::size_t i = 0; i < buckets_->count(); ++i) {
    batches_before_.push_back(batches_before_.back() + buckets_->size(i) / batch_size_);
    rests_before_.push_back(rests_before_.back() + buckets_->size(i) % batch_size_);
  }
}

std::uint64_t bucket_order::whole_batches() const noexcept {
  return buckets_->samples() / batch_size_;
}

std::uint64_t bucket_order::mixed_batches() const noexcept {
  return whole_batches() - batches_before_.back();
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
  const std::uint64_t whole = whole_batches();
  const std::uint64_t rests = rests_before_.back();
  const std::uint64_t tail = samples % batch_size_;
  const drawing drawn{bijection{whole, seed_ ^ batch_role, epoch},
                      mix(mix(seed_ ^ bucket_role) + epoch * golden_gamma), tail,
                      mix(mix(seed_ ^ rest_role) + epoch * golden_gamma) % (rests - tail + 1)};

  for (std::uint64_t next = first.value; !out.empty();) {
    const std::uint64_t place = next / batch_size_;
    const std::uint64_t at = next % batch_size_;
    const auto run = out.first(
        std::min<std::uint64_t>(out.size(), place < whole ? batch_size_ - at : samples - next));
    if (place < whole) {
      sample_index batch{};
      drawn.batches.evaluate(position{place}, {&batch, 1});
      if (batch.value < batches_before_.back())
        write_bucket(drawn, batch.value, at, run);
      else
        write_rests(drawn, (batch.value - batches_before_.back()) * batch_size_ + at, run);
    } else {
      write_rests(drawn, rests - tail + at, run);
    }
    out = out.subspan(run.size());
    next += run.size();
  }
}

/// Samples of a whole batch, from its place `at` on.
void bucket_order::write_bucket(const drawing& drawn, std::uint64_t batch, std::uint64_t at,
                                std::span<sample_index> out) const noexcept {
  const std::size_t bucket = place_in(batches_before_, batch);
  write_numbers(drawn, bucket, (batch - batches_before_[bucket]) * batch_size_ + at, out);
}

/// Samples of the buckets' rests, from `at` on, in the order of the line without those that end the
/// epoch; behind it are these.
void bucket_order::write_rests(const drawing& drawn, std::uint64_t at,
                               std::span<sample_index> out) const noexcept {
  const std::uint64_t mixed = rests_before_.back() - drawn.tail;
  while (!out.empty()) {
    std::uint64_t in_line = at;                      // where in the line this is,
    std::uint64_t together = drawn.tail_place - at;  // and how many follow there
    if (at >= mixed) {
      in_line = drawn.tail_place + (at - mixed);
      together = out.size();
    } else if (at >= drawn.tail_place) {
      in_line = at + drawn.tail;
      together = mixed - at;
    }
    const std::size_t bucket = place_in(rests_before_, in_line);
    const auto run = out.first(
        std::min({std::uint64_t{out.size()}, together, rests_before_[bucket + 1] - in_line}));
    const std::uint64_t in_batches =
        (batches_before_[bucket + 1] - batches_before_[bucket]) * batch_size_;
    write_numbers(drawn, bucket, in_batches + (in_line - rests_before_[bucket]), run);
    out = out.subspan(run.size());
    at += run.size();
  }
}

/// Samples of a bucket at places of its own order, from `first` on.
void bucket_order::write_numbers(const drawing& drawn, std::size_t bucket, std::uint64_t first,
                                 std::span<sample_index> out) const noexcept {
  bijection{buckets_->size(bucket), drawn.bucket_seed, bucket}.evaluate(position{first}, out);
  buckets_->to_samples(bucket, out);
}

}  // namespace feedline::detail
