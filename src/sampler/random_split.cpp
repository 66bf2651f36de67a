#include <feedline/error.hpp>
#include <feedline/sampler/random_split.hpp>

#include "dataset/subset_dataset.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Used instead of an epoch, so that a shuffle with the same seed has a different order.
constexpr std::uint64_t split_epoch = ~std::uint64_t{0};

/// Samples at some positions of a seeded order.
struct drawn : detail::scattered {
  detail::bijection order;
  std::uint64_t first;
  std::uint64_t count;

  std::uint64_t size() const noexcept { return count; }
  void choose(std::span<sample_index> samples) const noexcept {
    for (sample_index& sample : samples) sample.value += first;
    order.evaluate(samples);
  }
};

std::string named(std::size_t part) {
  return "random_split: size " + std::to_string(part);
}

/// Where each part ends.
std::vector<std::uint64_t> ends_of_shares(const std::vector<double>& shares, std::uint64_t size) {
  double sum = 0;
  std::vector<std::uint64_t> ends;
  for (std::size_t part = 0; part < shares.size(); ++part) {
    if (!(shares[part] >= 0 && shares[part] <= 1))
      throw usage_error{named(part) + " is " + std::to_string(shares[part]) +
                        ": a share is from 0 to 1"};
    sum += shares[part];
    const double end = std::round(std::min(sum, 1.0) * static_cast<double>(size));
    ends.push_back(std::min(static_cast<std::uint64_t>(end), size));
  }
  constexpr double tolerance = 1e-6;
  if (std::abs(sum - 1) > tolerance)
    throw usage_error{"random_split: the shares' sum is " + std::to_string(sum) +
                      ", and must be 1: add one for the samples to leave out"};
  ends.back() = size;
  return ends;
}

std::vector<std::uint64_t> ends_of_counts(const std::vector<std::int64_t>& counts,
                                          std::uint64_t size) {
  std::uint64_t sum = 0;
  bool fits = true;
  std::vector<std::uint64_t> ends;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    if (counts[part] < 0)
      throw usage_error{named(part) + " is " + std::to_string(counts[part]) +
                        ": a part has 0 samples or more"};
    fits = fits && !__builtin_add_overflow(sum, static_cast<std::uint64_t>(counts[part]), &sum);
    ends.push_back(sum);
  }
  if (!fits || sum != size)
    throw usage_error{"random_split: the sizes' sum is " +
                      (fits ? std::to_string(sum) : "more than 2^64") +
                      " samples, but the dataset has " + std::to_string(size) +
                      ": they must be equal; add a size for the samples to leave out"};
  return ends;
}

std::vector<std::uint64_t> ends_of(const std::vector<split_size>& sizes, std::uint64_t size) {
  if (sizes.empty())
    throw usage_error{"random_split: there are no sizes: name a part's, as {0.9, 0.1}"};
  std::vector<double> shares;
  std::vector<std::int64_t> counts;
  for (const split_size& one : sizes) {
    if (const double* share = std::get_if<double>(&one.size())) shares.push_back(*share);
    if (const std::int64_t* count = std::get_if<std::int64_t>(&one.size()))
      counts.push_back(*count);
  }
  if (!shares.empty() && !counts.empty())
    throw usage_error{
        "random_split: some sizes are shares and some count samples: 1 is a sample, 1.0 "
        "the whole"};
  return counts.empty() ? ends_of_shares(shares, size) : ends_of_counts(counts, size);
}

}  // namespace

std::vector<dataset_ptr> random_split(dataset_ptr of, const std::vector<split_size>& sizes,
                                      std::uint64_t seed) {
  if (!of) throw usage_error{"random_split: the dataset is null"};
  const detail::bijection order{of->size(), seed, split_epoch};
  std::vector<dataset_ptr> parts;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends_of(sizes, of->size())) {
    parts.push_back(std::make_shared<const detail::subset_dataset<drawn>>(
        of, drawn{{}, order, begin, end - begin}));
    begin = end;
  }
  return parts;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
