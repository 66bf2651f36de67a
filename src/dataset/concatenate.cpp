#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/rate_limiter.hpp"
#include "detail/sample_range.hpp"
#include "io/any_in_turn.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

class concatenation final : public dataset, public has_made_fields {
 public:
  /// @param ends Where each part ends: the sum of the sizes up to and with it.
  /// @param fields The parts' fields, with the names of classes that some of them have.
  concatenation(std::vector<dataset_ptr> parts, std::vector<std::uint64_t> ends,
                std::vector<field> fields)
      : parts_{std::move(parts)}, ends_{std::move(ends)}, fields_{std::move(fields)} {}

  std::uint64_t size() const override { return ends_.back(); }
  std::vector<field> fields() const override { return fields_; }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(parts_, &dataset::varies_by_epoch);
  }

  batch_sizes_ptr sizes() const override {
    std::vector<batch_sizes_ptr> of_parts;
    for (const dataset_ptr& part : parts_) of_parts.push_back(part->sizes());
    if (!of_parts.front() || !of_parts.front()->depends_on_samples())
      return detail::common_sizes("concatenate", of_parts);
    return detail::concatenated_sizes(std::move(of_parts), ends_);
  }

  unsigned reads_in_processes() const override {
    unsigned most = 0;
    for (const dataset_ptr& part : parts_) most = std::max(most, part->reads_in_processes());
    return most;
  }

  read_concurrency concurrency() const override {
    const auto serialized =
        std::ranges::find(parts_, read_concurrency::serialized, &dataset::concurrency);
    return serialized != parts_.end() ? read_concurrency::serialized : read_concurrency::parallel;
  }

  /// The largest of the parts' chunks: it holds several chunks of any other part. Each part keeps
  /// its own chunks in memory, so the part that keeps the fewest counts.
  chunking chunks() const override {
    chunking largest;
    for (const dataset_ptr& part : parts_)
      if (part->size() != 0) largest.samples = std::max(largest.samples, part->chunks().samples);
    if (largest.samples == 1) return largest;
    largest.kept = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const chunking one = parts_[part]->chunks();
      if (one.samples <= 1 || parts_[part]->size() == 0) continue;
      // A sample of the part stands this many before one of its chunk-sized groups in the whole.
      const std::uint64_t before = one.samples - start_of(part) % one.samples;
      const chunking seen = detail::regrouped(one, before, largest.samples);
      largest.bytes = std::max(largest.bytes, seen.bytes);
      largest.kept = std::min(largest.kept, seen.kept);
    }
    return largest;
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<dataset_ptr> chosen;
    for (const dataset_ptr& part : parts_) chosen.push_back(detail::with_fields(part, places));
    return concatenate(std::move(chosen));
  }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    std::vector<std::shared_ptr<const encoded_blocks>> of_parts;
    for (const dataset_ptr& part : parts_) of_parts.push_back(part->encoded());
    return detail::make_blocks_in_line(std::move(of_parts), ends_, fields_.size());
  }

  std::vector<made_field> made_fields() const override {
    return detail::made_fields_of(parts_).all;
  }

  std::string made_note() const override {
    std::string notes = detail::made_note_of(parts_);
    if (const auto some = detail::made_fields_of(parts_).some; !some.empty())
      detail::add_made_note(notes, detail::made_names(some, fields_) +
                                       ": readers make them in some parts of the concatenation");
    return notes;
  }

  /// There may be many thousands of parts, so they are asked now and then, some at a time.
  bool wants_prefetch() const noexcept override {
    if (ask_.is_due())
      wants_prefetch_.store(
          any_(parts_.size(), [this](std::size_t part) { return parts_[part]->wants_prefetch(); }),
          std::memory_order_relaxed);
    return wants_prefetch_.load(std::memory_order_relaxed);
  }

  bool hints_ranges() const noexcept override {
    return std::ranges::all_of(parts_, [](const dataset_ptr& part) {
      return !part->wants_prefetch() || part->hints_ranges();
    });
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    std::vector<sample_index> local(samples.begin(), samples.end());
    std::sort(local.begin(), local.end());
    for (auto first = local.begin(); first != local.end() && first->value < size();) {
      const std::size_t part = detail::part_at(ends_, first->value);
      const auto last = std::lower_bound(first, local.end(), sample_index{ends_[part]});
      for (auto each = first; each != last; ++each) each->value -= start_of(part);
      if (parts_[part]->wants_prefetch()) parts_[part]->prefetch({first, last});
      first = last;
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  // Each stretch of samples of one part is one read of that part, directly into `out`. Two
  // allocations a run, however many stretches there are.
  void do_read(const read_request& request) const override {
    const auto& [samples, out, context] = request;
    detail::require_in_range(samples, size());
    std::vector<sample_index> local(samples.size());
    std::vector<std::span<std::byte>> places(out.size());
    const auto row_bytes = [&request](std::size_t field) {
      return request.out[field].size() / request.samples.size();
    };
    for (std::size_t first = 0; first < samples.size();) {
      const std::size_t part = detail::part_at(ends_, samples[first].value);
      const std::uint64_t start = start_of(part);
      std::size_t last = first;
      for (; last < samples.size() && samples[last].value >= start &&
             samples[last].value < ends_[part];
           ++last)
        local[last] = {samples[last].value - start};
      for (std::size_t i = 0; i < out.size(); ++i)
        places[i] = out[i].subspan(first * row_bytes(i), (last - first) * row_bytes(i));
      read_part(part, {.samples = std::span{local}.subspan(first, last - first),
                       .out = places,
                       .context = context.part(first, last - first)});
      first = last;
    }
  }

  std::uint64_t start_of(std::size_t part) const noexcept {
    return part == 0 ? 0 : ends_[part - 1];
  }

  void read_part(std::size_t part, const read_request& request) const {
    try {
      parts_[part]->read(request);
    } catch (const dataset_error& error) {
      std::optional<std::uint64_t> sample = error.sample();
      if (sample) *sample += start_of(part);
      detail::rethrow_as(error, sample, "part " + std::to_string(part) + " of a concatenation");
    }
  }

  std::vector<dataset_ptr> parts_;
  std::vector<std::uint64_t> ends_;
  std::vector<field> fields_;
  mutable detail::rate_limiter ask_{std::chrono::milliseconds{10}};
  mutable detail::any_in_turn any_;
  mutable std::atomic<bool> wants_prefetch_{false};
};

/// Takes the names of classes that another part has, where there are none yet.
/// @throws usage_error naming the first difference between the fields so far and another part's.
void join(std::vector<field>& all, const std::vector<field>& other, std::size_t part) {
  const std::string where = "concatenate: part " + std::to_string(part);
  for (std::size_t i = 0; i < std::min(all.size(), other.size()); ++i) {
    field same = all[i];
    same.classes = other[i].classes;
    const bool are_other_classes =
        all[i].classes != other[i].classes && !all[i].classes.empty() && !other[i].classes.empty();
    if (same != other[i])
      throw usage_error{where + " has field " + to_string(other[i]) + " where part 0 has " +
                        to_string(all[i])};
    if (are_other_classes)
      throw usage_error{where + " has field " + to_string(other[i]) +
                        " where a part before it has " + to_string(all[i]) +
                        "; open all parts with the same names of classes, in the same order"};
    if (all[i].classes.empty()) all[i].classes = other[i].classes;
  }
  if (all.size() != other.size())
    throw usage_error{where + " has " + std::to_string(other.size()) + " fields, part 0 has " +
                      std::to_string(all.size())};
}

}  // namespace

dataset_ptr concatenate(std::vector<dataset_ptr> parts) {
  if (parts.empty()) throw usage_error{"concatenate: there is no dataset to concatenate"};
  std::vector<field> fields;
  std::vector<std::uint64_t> ends;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i]) throw usage_error{"concatenate: part " + std::to_string(i) + " is null"};
    if (i == 0) fields = parts[i]->fields();
    join(fields, parts[i]->fields(), i);
    if (__builtin_add_overflow(end, parts[i]->size(), &end))
      throw usage_error{"concatenate: the parts' samples are more than 64 bits can count"};
    ends.push_back(end);
  }
  (void)detail::checked_row_bytes("concatenate", fields);
  auto all =
      std::make_shared<const concatenation>(std::move(parts), std::move(ends), std::move(fields));
  (void)all->sizes();  // checks them
  return all;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
