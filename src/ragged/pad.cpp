#include <feedline/error.hpp>
#include <feedline/ragged/pad.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/sample_range.hpp"
#include "ragged/padding.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace feedline {
namespace {

class padded_dataset final : public dataset {
 public:
  padded_dataset(ragged_dataset_ptr of, field element, std::uint64_t length,
                 detail::padding padding)
      : of_{std::move(of)},
        element_{std::move(element)},
        length_{length},
        element_bytes_{sample_bytes(element_)},
        row_bytes_{detail::checked_row_bytes("pad", padded_dataset::fields())[0]},
        padding_{std::move(padding)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override {
    return {detail::field_of(element_, length_),
            {element_.name + "_length", element_type::i32, {}}};
  }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, size());
    std::vector<element_run> runs;
    runs.reserve(samples.size());  // one allocation a run
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::uint64_t own = std::min(of_->length(samples[i]), length_);
      const auto row = out[0].subspan(i * row_bytes_, row_bytes_);
      if (own != 0) runs.push_back({samples[i], 0, row.first(own * element_bytes_)});
      padding_.fill(row.subspan(own * element_bytes_));
      const auto told = static_cast<std::int32_t>(own);
      std::memcpy(out[1].data() + i * sizeof told, &told, sizeof told);
    }
    of_->read_in_turn(runs);
  }

 private:
  ragged_dataset_ptr of_;
  field element_;
  std::uint64_t length_;
  std::size_t element_bytes_;
  std::size_t row_bytes_;
  detail::padding padding_;
};

/// @throws dataset_error naming the first sample that has more than `most` elements.
std::uint64_t longest_of(const ragged_dataset& of, const std::string& name, std::uint64_t most) {
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < of.size(); ++i) {
    const std::uint64_t own = of.length(sample_index{i});
    if (own > most)
      throw dataset_error{{.path = {}, .field = name, .sample = i},
                          "has " + std::to_string(own) + " elements, more than the " +
                              std::to_string(most) +
                              " of pad_options::length: raise it, or ask for "
                              "pad_longer::truncate"};
    longest = std::max(longest, own);
  }
  return longest;
}

}  // namespace

dataset_ptr pad(ragged_dataset_ptr of, const pad_options& options) {
  if (!of) throw usage_error{"pad: the dataset is null"};
  field element = of->element();
  const std::uint64_t length =
      options.length != 0 ? options.length : longest_of(*of, element.name, UINT64_MAX);
  if (length == 0)
    throw usage_error{
        "pad: no sample has an element, so pad_options::length must say how long "
        "they are to be"};
  if (length > std::uint64_t{std::numeric_limits<std::int32_t>::max()})
    throw usage_error{"pad: a length of " + std::to_string(length) +
                      " is more than an int32 can tell; ask for fewer elements, and "
                      "pad_longer::truncate"};
  detail::padding padding{"pad", element, options.value};
  if (options.longer == pad_longer::error) (void)longest_of(*of, element.name, length);
  return std::make_shared<const padded_dataset>(std::move(of), std::move(element), length,
                                                std::move(padding));
}

}  // namespace feedline
