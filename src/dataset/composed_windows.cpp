#include "dataset/composed_blocks.hpp"
#include "dataset/window_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// The blocks if their field is cut out of chunks, else null.
std::shared_ptr<const window_blocks> windows_in(const chosen_field& each) {
  auto windows = std::dynamic_pointer_cast<const window_blocks>(each.blocks);
  return windows && windows->is_window(each.field) ? windows : nullptr;
}

class chosen_windows final : public chosen_blocks<window_blocks> {
 public:
  explicit chosen_windows(const std::vector<chosen_field>& fields) : chosen_blocks{fields} {
    std::vector<chosen_field> of_arrays;
    std::map<const encoded_blocks*, std::uint32_t> first_arrays;
    for (const chosen_field& each : fields) {
      window_source& made = sources_.emplace_back(window_source{windows_in(each)});
      if (!made.windows) continue;
      const auto [known, is_new] =
          first_arrays.emplace(each.blocks.get(), static_cast<std::uint32_t>(arrays_.size()));
      made.first_array = known->second;
      if (!is_new) continue;
      const auto own = made.windows->arrays();
      arrays_.insert(arrays_.end(), own.begin(), own.end());
      for (std::size_t i = 0; i < own.size(); ++i) of_arrays.push_back({made.windows->chunks(), i});
    }
    chunks_ = std::make_shared<const chosen_blocks<encoded_blocks>>(std::move(of_arrays));
  }

  bool is_window(std::size_t field) const noexcept override {
    return sources_[field].windows != nullptr;
  }
  std::span<const array> arrays() const noexcept override { return arrays_; }
  std::shared_ptr<const encoded_blocks> chunks() const override { return chunks_; }
  std::uint64_t max_pieces(std::size_t field) const noexcept override {
    return sources_[field].windows->max_pieces(chosen(field).field);
  }
  void cut(std::size_t field, sample_index sample, const sample_context& context,
           recipe& out) const override {
    sources_[field].windows->cut(chosen(field).field, sample, context, out);
    for (piece& each : out.pieces) each.box.field += sources_[field].first_array;
  }

 private:
  struct window_source {
    std::shared_ptr<const window_blocks> windows;  ///< null: the field is not cut out of chunks
    std::uint32_t first_array = 0;                 ///< number here of its first array
  };

  std::vector<window_source> sources_ = {};
  std::vector<array> arrays_ = {};
  std::shared_ptr<const encoded_blocks> chunks_;
};

class chosen_window_samples final : public chosen_samples<window_blocks> {
 public:
  using chosen_samples::chosen_samples;

  bool is_window(std::size_t field) const noexcept override { return of().is_window(field); }
  std::span<const array> arrays() const noexcept override { return of().arrays(); }
  std::shared_ptr<const encoded_blocks> chunks() const override { return of().chunks(); }
  std::uint64_t max_pieces(std::size_t field) const noexcept override {
    return of().max_pieces(field);
  }
  void cut(std::size_t field, sample_index sample, const sample_context& context,
           recipe& out) const override {
    of().cut(field, sample_index{choose(sample.value)}, context, out);
  }
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_chosen_windows(const std::vector<chosen_field>& fields) {
  const auto is_window = [](const chosen_field& each) { return windows_in(each) != nullptr; };
  if (std::ranges::none_of(fields, is_window)) return nullptr;
  return std::make_shared<const chosen_windows>(fields);
}

std::shared_ptr<const encoded_blocks> make_chosen_window_samples(
    std::shared_ptr<const window_blocks> of, std::function<std::uint64_t(std::uint64_t)> choose) {
  return std::make_shared<const chosen_window_samples>(std::move(of), std::move(choose));
}

}  // namespace feedline::detail
