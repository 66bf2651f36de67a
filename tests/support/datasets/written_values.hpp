#pragma once

#include "support/files/npy_bytes.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::test {

/// The values that make_mds.py and make_litdata.py of tests/fixtures both write in sample i,
/// padded. Empty: another field.
[[nodiscard]] inline std::optional<byte_vector> written_value(std::string_view field, int i) {
  const auto at = static_cast<unsigned>(i);
  if (field == "n") return memory_of<std::int64_t>({i - 2});
  if (field == "raw") return byte_vector{std::byte(at), std::byte(255 - at)};
  if (field == "tokens") {
    std::vector<std::int32_t> tokens(3);
    for (int k = 0; k < i % 3 + 1; ++k) tokens[static_cast<std::size_t>(k)] = k - i;
    return memory_of(tokens);
  }
  if (field == "rows") {
    std::vector<double> rows(4);
    std::fill_n(rows.begin(), 2 * (at % 2 + 1), static_cast<double>(i));
    return memory_of(rows);
  }
  if (field == "text") {
    byte_vector text = bytes_in(std::string{"abab"}.substr(0, 2 * (at % 3)));
    text.resize(4);
    return text;
  }
  if (field == "tokens_length") return memory_of<std::int32_t>({i % 3 + 1});
  if (field == "rows_length") return memory_of<std::int32_t>({i % 2 + 1});
  if (field == "text_length") return memory_of<std::int32_t>({2 * (i % 3)});
  return std::nullopt;
}

}  // namespace feedline::test
