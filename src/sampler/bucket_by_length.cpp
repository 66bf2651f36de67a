#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/bucket_by_length.hpp>

#include "detail/log.hpp"
#include "sampler/bucket_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

[[noreturn]] void refuse_without_batches() {
  throw usage_error{
      "bucket_by_length: the batch size is not known here: give the sampler itself to a loader, or "
      "use the result of its bind(dataset, batch_size)"};
}

std::vector<std::uint64_t> lengths_of(const ragged_dataset& of) {
  std::vector<std::uint64_t> lengths(of.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = of.length(sample_index{i});
  return lengths;
}

/// Lengths that part samples into about `buckets` groups of equal size; samples of one length are
/// never parted, so there may be fewer. Rising, and above the shortest length.
std::vector<std::uint64_t> equal_boundaries(std::vector<std::uint64_t> lengths,
                                            std::uint64_t buckets) {
  std::vector<std::uint64_t> boundaries;
  if (lengths.empty()) return boundaries;
  const std::uint64_t samples = lengths.size();
  buckets = std::min(buckets, samples);
  std::ranges::sort(lengths);
  std::uint64_t last = lengths.front();
  for (std::uint64_t i = 1; i < buckets; ++i) {
    // samples × i / buckets, of which the product could wrap
    const std::uint64_t rank = samples / buckets * i + samples % buckets * i / buckets;
    if (lengths[rank] > last) boundaries.push_back(last = lengths[rank]);
  }
  return boundaries;
}

std::vector<std::uint64_t> boundaries_of(std::span<const std::uint64_t> lengths,
                                         const bucket_options& options) {
  const std::vector<std::uint64_t>& given = options.boundaries;
  for (std::size_t i = 1; i < given.size(); ++i)
    if (given[i] <= given[i - 1])
      throw usage_error{"bucket_options::boundaries must rise, but boundary " + std::to_string(i) +
                        " is " + std::to_string(given[i]) + " and the one before " +
                        std::to_string(given[i - 1])};
  if (!given.empty()) return given;
  if (options.buckets == 0)
    throw usage_error{"bucket_options::buckets is 0; ask for one or more, or give the boundaries"};
  return equal_boundaries({lengths.begin(), lengths.end()}, options.buckets);
}

}  // namespace

bucket_by_length::bucket_by_length(const ragged_dataset& of, const bucket_options& options)
    : bucket_by_length{lengths_of(of), options} {}

bucket_by_length::bucket_by_length(std::span<const std::uint64_t> lengths,
                                   const bucket_options& options)
    : seed_{options.seed},
      buckets_{std::make_shared<const detail::length_buckets>(lengths,
                                                              boundaries_of(lengths, options))} {}

std::uint64_t bucket_by_length::size(std::uint64_t /*samples*/) const {
  refuse_without_batches();
}

void bucket_by_length::indices(std::uint64_t /*samples*/, std::uint64_t /*epoch*/,
                               position /*first*/, std::span<sample_index> /*out*/) const {
  refuse_without_batches();
}

sampler bucket_by_length::bind(const dataset& of, std::uint64_t batch_size) const {
  if (batch_size == 0) throw usage_error{"bucket_by_length: the batch size is 0"};
  const detail::bucket_order order{buckets_, seed_, batch_size};
  (void)order.size(of.size());
  if (order.mixed_batches() > order.whole_batches() / 2)
    detail::log()->warn(
        "bucket_by_length: {} of {} batches are of several buckets, because {} samples in {} "
        "buckets make few whole batches of {}: ask for fewer buckets",
        order.mixed_batches(), order.whole_batches(), buckets_->samples(), buckets_->count(),
        batch_size);
  return order;
}

const std::vector<std::uint64_t>& bucket_by_length::boundaries() const noexcept {
  return buckets_->boundaries();
}

std::size_t bucket_by_length::table_bytes() const noexcept {
  return buckets_->table_bytes();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
