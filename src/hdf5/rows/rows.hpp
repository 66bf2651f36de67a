#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <span>

namespace feedline::detail {

/// One field's rows of an HDF5 file, by whichever way they come. Constant once made; all functions
/// may be called by any number of threads.
class hdf5_rows {
 public:
  hdf5_rows() = default;
  hdf5_rows(const hdf5_rows&) = delete;
  hdf5_rows& operator=(const hdf5_rows&) = delete;
  virtual ~hdf5_rows() = default;

  /// As `dataset::read`, of one field. @param samples Within the dataset.
  /// @throws hdf5_error naming the sample.
  virtual void read(std::span<const sample_index> samples, std::byte* out) const = 0;

  /// As `dataset::chunks`.
  [[nodiscard]] virtual chunking chunks() const { return {}; }
  /// As `dataset::prefetch`.
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }
  /// All rows, where they lie in memory; else nothing.
  [[nodiscard]] virtual std::span<const std::byte> in_memory() const noexcept { return {}; }
};

}  // namespace feedline::detail
