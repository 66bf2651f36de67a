#pragma once

#include <feedline/dataset/field.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace feedline::detail {

/// A field of a batch that the host keeps.
struct kept_field {
  std::size_t place = 0;       ///< index of the field
  bool on_device_too = false;  ///< it is also among the rows that are copied to the device
};

/// Where the rows that the host keeps are: batch after batch, in each batch field after field, each
/// at a multiple of 256 bytes. In a staging slot they follow everything that is copied; a device
/// slot has memory of the host for them.
class host_rows {
 public:
  static constexpr std::size_t alignment = 256;

  struct column : kept_field {
    std::size_t row_bytes = 0;
    std::size_t offset = 0;  ///< in a batch
  };

  host_rows() = default;
  /// @param batch_size Samples in a batch, or in a piece of one; at least 1.
  /// @param begin Offset of the first batch.
  host_rows(std::span<const field> fields, std::span<const kept_field> kept,
            std::uint64_t batch_size, std::size_t begin = 0)
      : batch_size_{batch_size}, begin_{begin} {
    for (const kept_field& each : kept) {
      const std::size_t bytes = sample_bytes(fields[each.place]);
      columns_.push_back({each, bytes, batch_bytes_});
      batch_bytes_ += round_up<std::size_t>(bytes * batch_size, alignment);
    }
  }

  [[nodiscard]] bool empty() const noexcept { return columns_.empty(); }
  [[nodiscard]] std::span<const column> columns() const noexcept { return columns_; }
  /// Null if the host does not keep the field.
  [[nodiscard]] const column* find(std::size_t place) const noexcept {
    for (const column& each : columns_)
      if (each.place == place) return &each;
    return nullptr;
  }
  [[nodiscard]] std::size_t batch_bytes() const noexcept { return batch_bytes_; }
  [[nodiscard]] std::uint64_t batch_size() const noexcept { return batch_size_; }
  /// Bytes of so many batches, without what is before them.
  [[nodiscard]] std::size_t bytes(std::uint64_t batches) const noexcept {
    return batches * batch_bytes_;
  }
  /// Offset of a sample's row. The rows of a batch's samples are dense.
  [[nodiscard]] std::size_t at(const column& of, std::uint64_t sample) const noexcept {
    return begin_ + sample / batch_size_ * batch_bytes_ + of.offset +
           sample % batch_size_ * of.row_bytes;
  }

 private:
  std::vector<column> columns_;
  std::uint64_t batch_size_ = 1;
  std::size_t begin_ = 0;
  std::size_t batch_bytes_ = 0;
};

/// Memory of the host for one device slot.
class host_rows_memory {
 public:
  /// Makes room, keeping the content. @throws std::bad_alloc
  void fit(std::size_t bytes) {
    if (bytes > blocks_.size() * sizeof(block)) blocks_.resize(divide_up(bytes, sizeof(block)));
  }
  [[nodiscard]] std::byte* data() noexcept { return blocks_.empty() ? nullptr : blocks_[0].bytes; }

 private:
  struct alignas(host_rows::alignment) block {
    std::byte bytes[host_rows::alignment];  // NOLINT(modernize-avoid-c-arrays): plain memory
  };
  std::vector<block> blocks_;
};

/// Copies rows from a staging slot, or a part of a batch, to a device slot's memory of the host.
/// @param before Samples of the ticket before those of the staging slot.
inline void copy_host_rows(const host_rows& staged, const std::byte* from,
                           const host_rows& delivered, std::byte* to, std::uint64_t before,
                           std::uint64_t samples) noexcept {
  for (std::size_t i = 0; i < staged.columns().size(); ++i) {
    const host_rows::column& source = staged.columns()[i];
    const host_rows::column& target = delivered.columns()[i];
    for (std::uint64_t done = 0; done < samples;) {
      const std::uint64_t in_piece = staged.batch_size() - done % staged.batch_size();
      const std::uint64_t in_batch =
          delivered.batch_size() - (before + done) % delivered.batch_size();
      const std::uint64_t count = std::min({in_piece, in_batch, samples - done});
      std::memcpy(to + delivered.at(target, before + done), from + staged.at(source, done),
                  count * source.row_bytes);
      done += count;
    }
  }
}

}  // namespace feedline::detail
