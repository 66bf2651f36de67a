#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

using row_spans = std::vector<std::span<const std::byte>>;

/// For choices whose samples lie apart: there are no rows, and a chunk's samples may be anywhere.
struct scattered {
  static row_spans of_rows(const row_spans&, std::uint64_t) { return {}; }
  static chunking of_chunks(const chunking&) { return {}; }
};

/// The common part of all kinds of subset. `Choice` maps the subset's samples to the dataset's: it
/// has `size()`, `choose(samples)`, which replaces the subset's own indices, `of_rows` and
/// `of_chunks`, and is copied cheaply.
template <class Choice>
class subset_dataset final : public dataset, public has_made_fields {
 public:
  subset_dataset(dataset_ptr of, Choice choice) : of_{std::move(of)}, choice_{std::move(choice)} {}

  std::uint64_t size() const override { return choice_.size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  bool varies_by_epoch() const override { return of_->varies_by_epoch(); }
  batch_sizes_ptr sizes() const override {
    return chosen_sizes(of_->sizes(), [choice = choice_](std::span<sample_index> samples) {
      choice.choose(samples);
    });
  }
  std::vector<std::span<const std::byte>> rows() const override {
    return choice_.of_rows(of_->rows(), of_->size());
  }
  dataset_ptr select(std::span<const std::size_t> places) const override {
    return std::make_shared<const subset_dataset>(with_fields(of_, places), choice_);
  }

  chunking chunks() const override { return choice_.of_chunks(of_->chunks()); }
  std::shared_ptr<const encoded_blocks> encoded() const override {
    return make_chosen_samples(of_->encoded(), [choice = choice_](std::uint64_t sample) {
      sample_index chosen{sample};
      choice.choose({&chosen, 1});
      return chosen.value;
    });
  }
  std::vector<made_field> made_fields() const override { return made_fields_of(*of_); }
  std::string made_note() const override { return made_note_of(*of_); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    std::vector<sample_index> chosen;
    chosen.reserve(samples.size());
    for (const sample_index sample : samples)
      if (sample.value < size()) chosen.push_back(sample);
    choice_.choose(chosen);
    of_->prefetch(chosen);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    // One allocation a run.
    std::vector<sample_index> chosen(request.samples.begin(), request.samples.end());
    choice_.choose(chosen);
    try {
      of_->read({chosen, request.out, request.context});
    } catch (const dataset_error& error) {
      std::optional<std::uint64_t> sample;
      if (error.sample()) {
        const auto at = std::find(chosen.begin(), chosen.end(), sample_index{*error.sample()});
        if (at != chosen.end())
          sample = request.samples[static_cast<std::size_t>(at - chosen.begin())].value;
      }
      rethrow_as(error, sample, "the dataset that this is a subset of");
    }
  }

  dataset_ptr of_;
  Choice choice_;
};

}  // namespace feedline::detail
