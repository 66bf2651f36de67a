#include "dataset/choose_fields.hpp"

#include <feedline/error.hpp>

#include "dataset/scratch_pool.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

/// Memory for the fields that nobody wants, which the other dataset writes all the same.
using unwanted = std::vector<std::vector<std::byte>>;

class chosen_fields final : public dataset {
 public:
  chosen_fields(dataset_ptr of, std::vector<std::size_t> places)
      : of_{std::move(of)}, all_{of_->fields()}, places_{std::move(places)} {}

  std::uint64_t size() const override { return of_->size(); }
  chunking chunks() const override { return of_->chunks(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const std::size_t place : places_) fields.push_back(all_[place]);
    return fields;
  }

  std::vector<std::span<const std::byte>> rows() const override {
    const auto all = of_->rows();
    std::vector<std::span<const std::byte>> rows;
    if (all.empty()) return rows;
    for (const std::size_t place : places_) rows.push_back(all[place]);
    return rows;
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    const auto memory = scratch_.take();
    memory->resize(all_.size());
    std::vector<std::span<std::byte>> spans(all_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) spans[places_[i]] = out[i];
    for (std::size_t place = 0; place < all_.size(); ++place) {
      if (std::find(places_.begin(), places_.end(), place) != places_.end()) continue;
      (*memory)[place].resize(samples.size() * sample_bytes(all_[place]));
      spans[place] = (*memory)[place];
    }
    of_->read_in_turn(samples, spans);
  }

 private:
  dataset_ptr of_;
  std::vector<field> all_;
  std::vector<std::size_t> places_;  ///< of the chosen, among all
  mutable scratch_pool<unwanted> scratch_{[] { return std::make_unique<unwanted>(); }};
};

}  // namespace

dataset_ptr choose_fields(dataset_ptr of, const std::vector<std::string>& names) {
  if (names.empty()) return of;
  const std::vector<field> all = of->fields();
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const field& each) { return each.name == name; });
    if (found == all.end()) {
      std::string there;
      for (const field& each : all) there += (there.empty() ? "'" : ", '") + each.name + "'";
      throw usage_error{"open: there is no field '" + name + "'; there are " + there};
    }
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (std::find(places.begin(), places.end(), place) != places.end())
      throw usage_error{"open: the field '" + name + "' is named twice"};
    places.push_back(place);
  }
  return std::make_shared<const chosen_fields>(std::move(of), std::move(places));
}

}  // namespace feedline::detail
