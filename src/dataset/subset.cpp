#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>

#include "dataset/composed_error.hpp"
#include "dataset/regrouped_chunks.hpp"
#include "dataset/sample_range.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline {
namespace {

/// What both kinds of subset share. `Choice` maps the subset's indices to the dataset's:
/// `size()` and `operator()(index)`.
template <class Choice>
class subset_dataset final : public dataset {
 public:
  subset_dataset(dataset_ptr of, Choice choice) : of_{std::move(of)}, choice_{std::move(choice)} {}

  std::uint64_t size() const override { return choice_.size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  std::vector<std::span<const std::byte>> rows() const override {
    return choice_.of_rows(of_->rows(), of_->size());
  }

  chunking chunks() const override { return choice_.of_chunks(of_->chunks()); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    std::vector<sample_index> chosen;
    chosen.reserve(samples.size());
    for (const sample_index sample : samples)
      if (sample.value < size()) chosen.push_back(choice_(sample));
    of_->prefetch(chosen);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, size());
    std::vector<sample_index> chosen(samples.size());  // one allocation a run
    for (std::size_t i = 0; i < samples.size(); ++i) chosen[i] = choice_(samples[i]);
    try {
      of_->read_in_turn(chosen, out);
    } catch (const dataset_error& error) {
      std::optional<std::uint64_t> sample;
      if (error.sample()) {
        const auto at = std::find(chosen.begin(), chosen.end(), sample_index{*error.sample()});
        if (at != chosen.end())
          sample = samples[static_cast<std::size_t>(at - chosen.begin())].value;
      }
      detail::rethrow_as(error, sample, "the dataset that this is a subset of");
    }
  }

 private:
  dataset_ptr of_;
  Choice choice_;
};

using row_spans = std::vector<std::span<const std::byte>>;

struct listed {
  std::vector<sample_index> samples;

  /// Chosen rows lie apart.
  static row_spans of_rows(const row_spans&, std::uint64_t) { return {}; }
  /// A chunk's samples may be anywhere in the list.
  static chunking of_chunks(const chunking&) { return {}; }

  std::uint64_t size() const noexcept { return samples.size(); }
  sample_index operator()(sample_index sample) const noexcept { return samples[sample.value]; }
};

struct ranged {
  std::uint64_t first;
  std::uint64_t count;

  row_spans of_rows(row_spans rows, std::uint64_t samples) const {
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
  sample_index operator()(sample_index sample) const noexcept { return {first + sample.value}; }
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
  return std::make_shared<const subset_dataset<listed>>(std::move(of), listed{std::move(samples)});
}

dataset_ptr subset(dataset_ptr of, sample_index first, std::uint64_t count) {
  const std::uint64_t size = size_of(of);
  if (first.value > size || count > size - first.value)
    throw usage_error{"subset: " + std::to_string(count) + " samples from sample " +
                      std::to_string(first.value) + " on are asked for, but the dataset has " +
                      std::to_string(size) + " samples"};
  return std::make_shared<const subset_dataset<ranged>>(std::move(of), ranged{first.value, count});
}

}  // namespace feedline
