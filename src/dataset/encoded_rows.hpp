#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// One field's rows in blocks as they are stored: the part of `encoded_blocks` for a field with
/// steps. Constant once made; any number of threads.
class encoded_rows {
 public:
  encoded_rows() = default;
  encoded_rows(const encoded_rows&) = delete;
  encoded_rows& operator=(const encoded_rows&) = delete;
  virtual ~encoded_rows() = default;

  /// At least 1.
  [[nodiscard]] virtual std::uint64_t rows_per_block() const noexcept = 0;
  /// At least one.
  [[nodiscard]] virtual std::span<const block_step> steps() const noexcept = 0;
  [[nodiscard]] virtual encoded_blocks::stored_block stored(std::uint64_t block) const noexcept = 0;
  [[nodiscard]] virtual std::size_t max_stored_bytes() const noexcept = 0;
  /// Looks whether the file is unchanged, too. @throws dataset_error naming field and sample.
  virtual void read(std::uint64_t block, std::span<std::byte> out) const = 0;
  virtual void decode(std::span<const std::byte> stored, std::uint32_t skipped,
                      std::span<std::byte> out) const = 0;
};

}  // namespace feedline::detail
