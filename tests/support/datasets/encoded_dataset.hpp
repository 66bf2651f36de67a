#pragma once

#include <feedline/dataset/dataset.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace feedline::test {

/// What is wrong with an encoded dataset, and what was done with it.
struct encoded_script {
  std::set<std::uint64_t> damaged = {};     ///< blocks that do not decode, by any field
  std::set<std::uint64_t> unreadable = {};  ///< blocks that cannot be read
  /// Of blocks in the two sets, samples can be read all the same.
  bool samples_are_whole = false;
  block_filter filter = block_filter::other;
  std::atomic<std::uint64_t> block_reads{0};   ///< of blocks as they are stored, all fields
  std::atomic<std::uint64_t> sample_reads{0};  ///< of samples, decoded by the CPU
};

/// Another dataset, stored in blocks: in a form of the test's own, of a length that differs from
/// block to block. Some blocks skip the encoding, and the last field, of several, has none.
[[nodiscard]] dataset_ptr make_encoded(
    dataset_ptr of, std::uint64_t rows,
    std::shared_ptr<encoded_script> script = std::make_shared<encoded_script>());

}  // namespace feedline::test
