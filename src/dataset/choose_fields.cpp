#include "dataset/choose_fields.hpp"

#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>

#include "dataset/composed.hpp"
#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace feedline::detail {
namespace {

/// Memory for unwanted fields, which the other dataset writes anyway.
using unwanted = std::vector<std::vector<std::byte>>;

std::vector<std::size_t> first_places(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

bool is_all_in_order(std::span<const std::size_t> places, const std::vector<field>& all) {
  return std::ranges::equal(places, first_places(all.size()));
}

/// The same dataset with its fields called so.
dataset_ptr named(dataset_ptr of, std::vector<field> fields);

/// Some fields of another dataset, perhaps under other names.
class chosen_fields final : public dataset, public has_made_fields {
 public:
  chosen_fields(dataset_ptr of, std::vector<field> fields, std::vector<std::size_t> places)
      : of_{std::move(of)},
        all_{of_->fields()},
        fields_{std::move(fields)},
        places_{std::move(places)},
        is_skipped_(all_.size()),
        all_in_order_{is_all_in_order(places_, all_)} {
    for (const made_field& each : made_fields_of(*of_))
      is_skipped_[each.place] = std::ranges::count(places_, each.place) == 0;
  }

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return fields_; }
  chunking chunks() const override { return of_->chunks(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  bool varies_by_epoch() const override { return of_->varies_by_epoch(); }
  batch_sizes_ptr sizes() const override { return any_by_batch(fields_) ? of_->sizes() : nullptr; }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    return all_in_order_ ? of_->encoded() : make_chosen_blocks(of_->encoded(), places_);
  }

  std::vector<made_field> made_fields() const override { return split_made().all; }

  std::string made_note() const override {
    std::string notes = made_note_of(*of_);
    for (const made_field& each : split_made().some)
      add_made_note(notes, '\'' + fields_[each.place].name + "': select leaves out '" +
                               all_[each.offsets].name + "', which devices make it from");
    return notes;
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

  std::vector<std::span<const std::byte>> rows() const override {
    const auto all = of_->rows();
    std::vector<std::span<const std::byte>> rows;
    if (all.empty()) return rows;
    for (const std::size_t place : places_) rows.push_back(all[place]);
    return rows;
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<field> fields;
    std::vector<std::size_t> inner;
    for (const std::size_t place : places) {
      fields.push_back(fields_[place]);
      inner.push_back(places_[place]);
    }
    return named(with_fields(of_, inner), std::move(fields));
  }

 private:
  /// Fields that a device can make, and, with the other dataset's offsets, those whose offsets are
  /// not among the chosen fields.
  [[nodiscard]] parts_made split_made() const {
    parts_made made;
    for (made_field each : made_fields_of(*of_)) {
      const auto place = std::ranges::find(places_, each.place);
      const auto offsets = std::ranges::find(places_, each.offsets);
      if (place == places_.end()) continue;
      each.place = static_cast<std::size_t>(place - places_.begin());
      if (offsets == places_.end()) {
        made.some.push_back(each);
        continue;
      }
      each.offsets = static_cast<std::size_t>(offsets - places_.begin());
      made.all.push_back(each);
    }
    return made;
  }

  void do_read(const read_request& request) const override {
    if (all_in_order_) return of_->read(request);
    const auto memory = scratch_.take();
    memory->resize(all_.size());
    std::vector<std::span<std::byte>> spans(all_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) spans[places_[i]] = request.out[i];
    for (std::size_t place = 0; place < all_.size(); ++place) {
      if (is_skipped_[place] || std::ranges::count(places_, place) != 0) continue;
      (*memory)[place].resize(request.samples.size() *
                              sample_bytes(all_[place], request.context.size()));
      spans[place] = (*memory)[place];
    }
    of_->read({request.samples, spans, request.context});
  }

  dataset_ptr of_;
  std::vector<field> all_;
  std::vector<field> fields_;
  std::vector<std::size_t> places_;  ///< index of each chosen field among all
  std::vector<bool> is_skipped_;     ///< for each of all fields: not chosen, and need not be read
  bool all_in_order_;                ///< all fields are chosen in order: only names can differ
  mutable scratch_pool<unwanted> scratch_{[] { return std::make_unique<unwanted>(); }};
};

dataset_ptr named(dataset_ptr of, std::vector<field> fields) {
  if (of->fields() == fields) return of;
  auto places = first_places(fields.size());
  return std::make_shared<const chosen_fields>(std::move(of), std::move(fields), std::move(places));
}

}  // namespace

std::vector<std::size_t> checked_row_bytes(std::string_view who, std::span<const field> fields) {
  if (fields.empty()) throw usage_error{std::string{who} + ": a dataset needs at least one field"};
  std::vector<std::size_t> row_bytes;
  std::size_t total = 0;
  row_bytes.reserve(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (fields[j].name == fields[i].name)
        throw usage_error{std::string{who} + ": fields " + std::to_string(j) + " and " +
                          std::to_string(i) + " are both named '" + fields[i].name +
                          "'; a batch finds a field by its name"};
    row_bytes.push_back(sample_bytes(fields[i]));
    if (__builtin_add_overflow(total, row_bytes.back(), &total))
      throw usage_error{std::string{who} +
                        ": the bytes of a sample's fields do not fit in 64 bits"};
  }
  return row_bytes;
}

std::vector<std::size_t> places_of(const char* who, const std::vector<field>& all,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &field::name);
    if (found == all.end()) {
      std::string there;
      for (const field& each : all) there += (there.empty() ? "'" : ", '") + each.name + "'";
      throw usage_error{std::string{who} + ": there is no field '" + name + "'; there are " +
                        there};
    }
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (std::ranges::find(places, place) != places.end())
      throw usage_error{std::string{who} + ": the field '" + name + "' is named twice"};
    places.push_back(place);
  }
  return places;
}

dataset_ptr with_fields(const dataset_ptr& of, std::span<const std::size_t> places) {
  if (is_all_in_order(places, of->fields())) return of;
  dataset_ptr own = of->select(places);
  return own ? own : picked(of, places);
}

dataset_ptr picked(const dataset_ptr& of, std::span<const std::size_t> places) {
  const std::vector<field> all = of->fields();
  if (is_all_in_order(places, all)) return of;
  std::vector<field> fields;
  for (const std::size_t place : places) fields.push_back(all[place]);
  return std::make_shared<const chosen_fields>(of, std::move(fields),
                                               std::vector(places.begin(), places.end()));
}

dataset_ptr choose_fields(dataset_ptr of, const std::vector<std::string>& names) {
  if (names.empty()) return of;
  return with_fields(of, places_of("open", of->fields(), names));
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr select(dataset_ptr of, const std::vector<selected_field>& fields) {
  if (!of) throw usage_error{"select: the dataset is null"};
  if (fields.empty()) throw usage_error{"select: no field is named: name at least one"};
  std::vector<std::string> names;
  for (const selected_field& one : fields) names.push_back(one.name);
  const auto places = detail::places_of("select", of->fields(), names);
  dataset_ptr some = detail::with_fields(of, places);
  std::vector<field> called = some->fields();
  for (std::size_t i = 0; i < called.size(); ++i)
    if (!fields[i].as.empty()) called[i].name = fields[i].as;
  for (field& one : called) {
    if (!one.tie) continue;
    // A tie follows its image's new name. If the image is left out, another field may be called so.
    const auto image = std::ranges::find(fields, one.tie->image, &selected_field::name);
    if (image != fields.end())
      one.tie->image = image->as.empty() ? image->name : image->as;
    else if (std::ranges::find(called, one.tie->image, &field::name) != called.end())
      one.tie.reset();
  }
  (void)detail::checked_row_bytes("select", called);
  return detail::named(std::move(some), std::move(called));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
