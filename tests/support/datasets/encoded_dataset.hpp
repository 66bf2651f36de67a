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

/// Faults of an encoded dataset, and counts of its calls.
struct encoded_script {
  std::set<std::uint64_t> damaged = {};     ///< blocks that do not decode, by any field
  std::set<std::uint64_t> unreadable = {};  ///< blocks that cannot be read
  /// Samples of blocks in the two sets can still be read.
  bool samples_are_whole = false;
  block_filter filter = block_filter::other;
  image_format format = image_format::jpeg;    ///< format that `stored` returns
  std::atomic<std::uint64_t> block_reads{0};   ///< reads of blocks as stored, all fields
  std::atomic<std::uint64_t> sample_reads{0};  ///< reads of samples, decoded by the CPU
};

/// Another dataset, stored in blocks: in a form of the test's own, of a length that differs from
/// block to block. Some blocks skip the encoding, and the last field, of several, has none.
[[nodiscard]] dataset_ptr make_encoded(
    dataset_ptr of, std::uint64_t rows,
    std::shared_ptr<encoded_script> script = std::make_shared<encoded_script>());

}  // namespace feedline::test
