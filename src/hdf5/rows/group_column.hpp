#pragma once

#include <feedline/dataset/field.hpp>

#include "hdf5/rows/found_array.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

/// Arrays of samples that are stored in chunks, as long as memory allows: each one decodes a chunk
/// once for all its reads. Any number of threads.
class hdf5_recent_arrays {
 public:
  /// @param bytes Limit for decoded chunks; the newest array is kept even if it takes more.
  explicit hdf5_recent_arrays(std::size_t bytes) : max_bytes_{bytes} {}

  /// The array of a sample, which is opened if it is not there. The oldest ones are dropped.
  [[nodiscard]] array_ptr get(std::uint64_t sample, hdf5_found_array& found);

 private:
  const std::size_t max_bytes_;
  std::mutex lock_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::uint64_t, array_ptr> arrays_ = {};
  std::deque<std::uint64_t> order_ = {};  ///< the oldest is first
};

/// A field whose samples are datasets of their own. Any number of threads read it.
class hdf5_group_column {
 public:
  struct options {
    std::size_t cache_bytes;
    std::size_t resident_bytes;  ///< limit for datasets that only the library reads
    bool is_ragged;
  };

  /// Call it outside of a session. @param found One for each sample.
  /// @throws hdf5_error naming a sample whose type or shape is not the first one's.
  hdf5_group_column(std::string name, std::vector<hdf5_found_array> found, const options& how);

  /// A sample, or one element of it if samples have different lengths.
  [[nodiscard]] const field& spec() const noexcept { return spec_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_.size(); }
  /// The first dimension.
  [[nodiscard]] std::uint64_t length(std::uint64_t sample) const {
    return samples_[static_cast<std::size_t>(sample)].length;
  }
  /// Reads indices [first, first + count) of the first dimension. @param out Their bytes.
  void read(std::uint64_t sample, std::uint64_t first, std::uint64_t count, std::byte* out) const;
  /// Reads a whole sample.
  void read(std::uint64_t sample, std::byte* out) const { read(sample, 0, length(sample), out); }

  [[nodiscard]] bool wants_prefetch() const noexcept;
  void prefetch(std::uint64_t sample) const noexcept;

 private:
  struct stored_sample {
    std::uint64_t length;
    array_ptr array = nullptr;                           ///< null: empty, or in chunks
    std::unique_ptr<hdf5_found_array> chunks = nullptr;  ///< if it is in chunks
  };

  [[nodiscard]] array_ptr array_of(std::uint64_t sample) const;

  field spec_;
  std::vector<stored_sample> samples_ = {};
  const std::unique_ptr<hdf5_recent_arrays> recent_;
};

}  // namespace feedline::detail
