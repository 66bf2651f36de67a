#pragma once

#include <feedline/ragged/dataset.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace feedline::test {

/// Lengths to offsets.
template <class Offset = std::uint64_t>
[[nodiscard]] std::vector<Offset> offsets_of(const std::vector<std::uint64_t>& lengths) {
  std::vector<Offset> offsets{0};
  for (const std::uint64_t length : lengths)
    offsets.push_back(static_cast<Offset>(offsets.back() + static_cast<Offset>(length)));
  return offsets;
}

/// Element k of sample i, of two numbers, is {1000 i + k, ~k}: each tells where it belongs.
[[nodiscard]] inline std::vector<std::int32_t> telling_elements(std::uint64_t sample,
                                                                std::uint64_t first,
                                                                std::uint64_t count) {
  std::vector<std::int32_t> elements;
  for (std::uint64_t k = first; k < first + count; ++k) {
    elements.push_back(static_cast<std::int32_t>(1000 * sample + k));
    elements.push_back(~static_cast<std::int32_t>(k));
  }
  return elements;
}

/// The values of samples of such elements, one after the other.
[[nodiscard]] inline std::vector<std::int32_t> telling_values(
    const std::vector<std::uint64_t>& lengths) {
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto sample = telling_elements(i, 0, lengths[i]);
    values.insert(values.end(), sample.begin(), sample.end());
  }
  return values;
}

/// A ragged dataset of such samples, in memory; its field is "pair".
[[nodiscard]] inline ragged_dataset_ptr make_telling(const std::vector<std::uint64_t>& lengths) {
  return make_ragged_dataset(own("pair", telling_values(lengths), {2}),
                             own("offset", offsets_of(lengths)));
}

/// A ragged dataset that only has lengths.
class only_lengths final : public ragged_dataset {
 public:
  explicit only_lengths(std::vector<std::uint64_t> lengths) : lengths_{std::move(lengths)} {}

  [[nodiscard]] std::uint64_t size() const override { return lengths_.size(); }
  [[nodiscard]] field element() const override { return {"token", element_type::u16, {}}; }
  [[nodiscard]] std::uint64_t length(sample_index sample) const override {
    return lengths_[sample.value];
  }
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs) std::fill(run.out.begin(), run.out.end(), std::byte{});
  }

 private:
  std::vector<std::uint64_t> lengths_;
};

/// Lengths like those of texts: most are short, few are long; some are empty.
[[nodiscard]] inline std::vector<std::uint64_t> skewed_lengths(std::size_t samples,
                                                               std::uint64_t longest) {
  std::mt19937_64 random{samples};
  std::vector<std::uint64_t> lengths(samples);
  for (std::uint64_t& length : lengths) {
    const std::uint64_t most = random() % (longest + 1);
    length = random() % (most + 1);
  }
  return lengths;
}

/// Values as bytes.
template <class T>
[[nodiscard]] std::vector<std::byte> as_byte_vector(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {bytes.begin(), bytes.end()};
}

}  // namespace feedline::test
