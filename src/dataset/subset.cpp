#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>

#include "dataset/composed.hpp"
#include "dataset/subset_dataset.hpp"

#include <memory>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

struct listed : detail::scattered {
  std::shared_ptr<const std::vector<sample_index>> samples;

  std::uint64_t size() const noexcept { return samples->size(); }
  void choose(std::span<sample_index> chosen) const noexcept {
    for (sample_index& sample : chosen) sample = (*samples)[sample.value];
  }
};

struct ranged {
  std::uint64_t first;
  std::uint64_t count;

  detail::row_spans of_rows(detail::row_spans rows, std::uint64_t samples) const {
    for (auto& field : rows) {
      const std::size_t row_bytes = samples == 0 ? 0 : field.size() / samples;
      field = field.subspan(first * row_bytes, count * row_bytes);
    }
    return rows;
  }

  chunking of_chunks(const chunking& chunks) const {
    return detail::regrouped(chunks, first, chunks.samples);
  }

  std::uint64_t size() const noexcept { return count; }
  void choose(std::span<sample_index> chosen) const noexcept {
    for (sample_index& sample : chosen) sample.value += first;
  }
};

std::uint64_t size_of(const dataset_ptr& dataset) {
  if (!dataset) throw usage_error{"subset: the dataset is null"};
  return dataset->size();
}

}  // namespace

dataset_ptr subset(dataset_ptr of, std::vector<sample_index> samples) {
  const std::uint64_t size = size_of(of);
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].value >= size)
      throw usage_error{"subset: entry " + std::to_string(i) + " chooses sample " +
                        std::to_string(samples[i].value) + ", but the dataset has " +
                        std::to_string(size) + " samples"};
  return std::make_shared<const detail::subset_dataset<listed>>(
      std::move(of),
      listed{{}, std::make_shared<const std::vector<sample_index>>(std::move(samples))});
}

dataset_ptr subset(dataset_ptr of, sample_index first, std::uint64_t count) {
  const std::uint64_t size = size_of(of);
  if (first.value > size || count > size - first.value)
    throw usage_error{"subset: " + std::to_string(count) + " samples from sample " +
                      std::to_string(first.value) + " on are asked for, but the dataset has " +
                      std::to_string(size) + " samples"};
  return std::make_shared<const detail::subset_dataset<ranged>>(std::move(of),
                                                                ranged{first.value, count});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
