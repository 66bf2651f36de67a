#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

class joined final : public dataset, public has_made_fields {
 public:
  explicit joined(std::vector<dataset_ptr> parts) : parts_{std::move(parts)} {
    for (const dataset_ptr& part : parts_) counts_.push_back(part->fields().size());
  }

  std::uint64_t size() const override { return parts_.front()->size(); }

  std::vector<field> fields() const override {
    std::vector<field> all;
    for (const dataset_ptr& part : parts_)
      for (field& one : part->fields()) all.push_back(std::move(one));
    return all;
  }

  std::vector<std::span<const std::byte>> rows() const override {
    std::vector<std::span<const std::byte>> all;
    for (const dataset_ptr& part : parts_) {
      const auto rows = part->rows();
      if (rows.empty()) return {};
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<dataset_ptr> chosen;
    std::vector<std::size_t> order(places.size());  // index of each wanted field among the chosen
    std::size_t before = 0;
    std::size_t found = 0;
    for (std::size_t part = 0; part < parts_.size(); before += counts_[part++]) {
      std::vector<std::size_t> own;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] < before || places[i] >= before + counts_[part]) continue;
        own.push_back(places[i] - before);
        order[i] = found++;
      }
      if (!own.empty()) chosen.push_back(detail::with_fields(parts_[part], own));
    }
    return detail::picked(zip(std::move(chosen)), order);
  }

  /// Where parts differ, the largest chunks: an order that suits them is no worse for the others.
  chunking chunks() const override {
    chunking largest;
    for (const dataset_ptr& part : parts_)
      if (const chunking of_part = part->chunks(); of_part.samples > largest.samples)
        largest = of_part;
    return largest;
  }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    return detail::make_joined_blocks(parts_);
  }

  std::vector<made_field> made_fields() const override {
    std::vector<made_field> all;
    std::size_t before = 0;
    for (std::size_t part = 0; part < parts_.size(); before += counts_[part++])
      for (made_field& each : detail::made_fields_of(*parts_[part])) {
        each.place += before;
        each.offsets += before;
        all.push_back(each);
      }
    return all;
  }

  std::string made_note() const override { return detail::made_note_of(parts_); }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(parts_, &dataset::wants_prefetch);
  }

  bool hints_ranges() const noexcept override {
    return std::ranges::all_of(parts_, [](const dataset_ptr& part) {
      return !part->wants_prefetch() || part->hints_ranges();
    });
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const dataset_ptr& part : parts_)
      if (part->wants_prefetch()) part->prefetch(samples);
  }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(parts_, &dataset::varies_by_epoch);
  }

  batch_sizes_ptr sizes() const override {
    std::vector<batch_sizes_ptr> of_parts;
    for (const dataset_ptr& part : parts_) of_parts.push_back(part->sizes());
    return detail::common_sizes("zip", of_parts);
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

 private:
  void do_read(const read_request& request) const override {
    std::size_t before = 0;
    for (std::size_t i = 0; i < parts_.size(); before += counts_[i++])
      parts_[i]->read({request.samples, request.out.subspan(before, counts_[i]), request.context});
  }

  std::vector<dataset_ptr> parts_;
  std::vector<std::size_t> counts_;  ///< number of each part's fields
};

}  // namespace

dataset_ptr zip(std::vector<dataset_ptr> parts) {
  if (parts.empty()) throw usage_error{"zip: there is no dataset"};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i]) throw usage_error{"zip: dataset " + std::to_string(i) + " is null"};
  std::vector<field> all;
  for (const dataset_ptr& part : parts) {
    for (field& one : part->fields()) all.push_back(std::move(one));
    if (part->size() != parts.front()->size())
      throw dataset_error{{.path = {}, .field = part->fields().front().name},
                          "holds " + std::to_string(part->size()) + " samples, but field '" +
                              all.front().name + "' holds " +
                              std::to_string(parts.front()->size()) +
                              "; all fields of a dataset hold the same number"};
  }
  (void)detail::checked_row_bytes("dataset", all);
  if (parts.size() == 1) return parts.front();
  auto all_parts = std::make_shared<const joined>(std::move(parts));
  (void)all_parts->sizes();  // checks them
  return all_parts;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
