#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

/// Reads all fields of a sample. What they hold does not matter, but reading may fail.
inline void read_sample(const dataset& from, std::uint64_t sample) {
  std::vector<std::vector<std::byte>> rows;
  for (const field& each : from.fields()) rows.emplace_back(sample_bytes(each));
  const std::vector<std::span<std::byte>> out{rows.begin(), rows.end()};
  const sample_index index{sample};
  from.read({&index, 1}, out);
}

}  // namespace feedline::test
