#pragma once

#include <feedline/index.hpp>

#include "io/byte_file.hpp"
#include "rows/gather.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace feedline::detail {

/// How many rows a field has, and how they lie together.
struct row_extent {
  std::uint64_t rows = 0;
  std::size_t row_bytes = 0;
  byte_file_ptr file = nullptr;      ///< the file, which must stay unchanged while rows are read;
                                     ///< may be null
  std::uint64_t rows_per_chunk = 1;  ///< rows that are read as one
  std::uint64_t chunks_kept = 0;     ///< in memory at once, at most
};

/// One field's rows, by whichever way they come. Constant once made; all functions may be called by
/// any number of threads.
class field_rows {
 public:
  explicit field_rows(row_extent extent) : extent_{std::move(extent)} {}
  field_rows(const field_rows&) = delete;
  field_rows& operator=(const field_rows&) = delete;
  virtual ~field_rows() = default;

  [[nodiscard]] const row_extent& extent() const noexcept { return extent_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return extent_.rows; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return extent_.row_bytes; }

  /// Same as `dataset::read`, for one field. Does not check whether the file is unchanged: the
  /// dataset does that once for all fields, afterwards.
  /// @param samples All less than `size()`.
  /// @throws dataset_error naming the sample, and the offset where it is the file's fault.
  virtual void read(std::span<const sample_index> samples, std::byte* out) const = 0;

  /// Whether hints are useful: much of what holds the rows is not in memory.
  [[nodiscard]] virtual bool is_cold() const noexcept {
    return extent_.file && extent_.file->is_cold();
  }
  /// Same as `dataset::prefetch`.
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }
  /// All rows, where they lie in memory; else nothing.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> in_memory() const noexcept {
    return std::nullopt;
  }

 private:
  row_extent extent_;
};

/// Rows that lie in memory.
class memory_rows final : public field_rows {
 public:
  /// @param owner Keeps the bytes alive; null: the caller does.
  memory_rows(row_extent extent, std::span<const std::byte> bytes,
              std::shared_ptr<const void> owner)
      : field_rows{std::move(extent)}, bytes_{bytes}, owner_{std::move(owner)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    gather_rows(bytes_.data(), row_bytes(), samples, out);
  }
  std::optional<std::span<const std::byte>> in_memory() const noexcept override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace feedline::detail
