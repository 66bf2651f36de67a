#pragma once

#include <feedline/dataset/record_decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/ragged/dataset.hpp>

#include "support/datasets/ragged_samples.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A record of a number and any number of words: 4 bytes, then 2 for each word.
[[nodiscard]] inline std::vector<std::byte> record_of(std::int32_t number,
                                                      const std::vector<std::uint16_t>& words) {
  std::vector<std::byte> record = as_byte_vector(std::vector{number});
  const auto rest = as_byte_vector(words);
  record.insert(record.end(), rest.begin(), rest.end());
  return record;
}

/// Decodes them to "number", "words" (ragged) and "bytes": the number's bytes, ragged too. The
/// words are absent if the number is -1. Counts what it does.
class number_and_words final : public record_decoder {
 public:
  explicit number_and_words(bool varies = false) : varies_{varies} {}

  [[nodiscard]] std::vector<described_field> describe(
      std::span<const std::byte> first) const override {
    if (first.empty()) throw dataset_error{{}, "the first record is empty"};
    return {{{"number", element_type::i32}},
            {{"words", element_type::u16}, true},
            {{"bytes", element_type::u8}, true}};
  }
  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context& context) const override {
    ++records;
    if (stored.size() < 4) throw dataset_error{{.path = {}, .field = "number"}, "is cut short"};
    const auto words = stored.subspan(4);
    std::int32_t number = 0;
    std::memcpy(&number, stored.data(), sizeof number);
    if (const auto at = out.find("number")) {
      const std::int32_t told =
          varies_ ? static_cast<std::int32_t>(context.random().u32()) : number;
      std::memcpy(out.fixed(*at).data(), &told, sizeof told);
    }
    if (number != -1) out.put(1, words);
    if (!out.wants(2)) return;
    const auto to = out.ragged(2, 4);
    std::ranges::copy(stored.first(to.size()), to.begin());
    bytes += to.size();
  }
  [[nodiscard]] bool varies_by_epoch() const override { return varies_; }

  mutable std::atomic<int> records = 0;        ///< decoded
  mutable std::atomic<std::size_t> bytes = 0;  ///< written to "bytes"

 private:
  bool varies_;
};

/// Records in memory, of the field "stored".
[[nodiscard]] inline ragged_dataset_ptr make_records(
    const std::vector<std::vector<std::byte>>& records) {
  std::vector<std::uint8_t> values;
  std::vector<std::uint64_t> lengths;
  for (const auto& record : records) {
    for (const std::byte each : record) values.push_back(std::to_integer<std::uint8_t>(each));
    lengths.push_back(record.size());
  }
  return make_ragged_dataset(own("stored", std::move(values)), own("offset", offsets_of(lengths)));
}

}  // namespace feedline::test
