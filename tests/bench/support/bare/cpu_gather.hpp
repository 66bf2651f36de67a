#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>

#include "bench/support/shapes.hpp"

#include <cstddef>
#include <vector>

namespace feedline::bench {

/// The ring that a loader with default options has.
inline constexpr std::size_t ring_bytes = std::size_t{32} << 20;

/// How bare threads copy rows.
enum class row_copies {
  by_hand,   ///< `memcpy`, one row after the other: the usual code without a library
  by_gather  ///< like readers, which prefetch rows
};

/// CPU threads that gather random rows and do nothing else: what readers are measured by.
class cpu_gather {
 public:
  /// @param data Data of the shape, in memory; its first field is gathered.
  cpu_gather(const shape& shape, dataset_ptr data);

  /// Bytes a second of so many threads that take requests like a loader's in turn, of a random
  /// order of all rows, round and round, and of the ring. (A thread with a part of the rows for
  /// itself would find more of them in its caches than a reader can.)
  /// @param ring Memory of `ring_bytes`.
  [[nodiscard]] double rate(std::byte* ring, std::size_t threads, double seconds,
                            row_copies copies = row_copies::by_gather) const;

  /// Copies the rows of one request to `out`, `request_bytes()` of them. Requests repeat the order
  /// in cycles.
  void copy_request(std::size_t number, std::byte* out, row_copies copies) const;
  [[nodiscard]] std::size_t request_bytes() const noexcept { return rows_ * row_bytes_; }

  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return row_bytes_ * order_.size(); }

 private:
  dataset_ptr data_;
  std::size_t row_bytes_;
  std::size_t rows_;                 ///< rows of a request
  std::vector<sample_index> order_;  ///< order of all rows
};

}  // namespace feedline::bench
