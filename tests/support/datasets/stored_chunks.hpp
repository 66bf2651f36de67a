#pragma once

#include <feedline/error.hpp>

#include "arrays/chunked_array.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Chunks of given bytes, "encoded" by turning each bit over; devices may decode them. Those in
/// `damaged` do not decode, and those in `absent` were never written.
class stored_chunks final : public detail::chunk_source {
 public:
  struct record {
    std::atomic<std::uint64_t> reads{0};         ///< reads by readers
    std::atomic<std::uint64_t> stored_reads{0};  ///< reads for devices
    std::set<std::uint64_t> absent = {};
    std::set<std::uint64_t> damaged = {};
    block_filter filter = block_filter::deflate;
  };

  /// @param bytes Content of all chunks; the last one may be cut.
  stored_chunks(std::vector<std::byte> bytes, std::size_t chunk_bytes,
                std::shared_ptr<record> record)
      : rows_{std::make_shared<const rows>(std::move(bytes), chunk_bytes, record)},
        record_{std::move(record)} {}

  bool is_written(std::uint64_t chunk) const noexcept override {
    return record_->absent.count(chunk) == 0;
  }
  void read(std::uint64_t chunk, std::span<std::byte> out) const override {
    ++record_->reads;
    std::vector<std::byte> stored(out.size() + 1);
    rows_->fetch(chunk, stored);
    rows_->decode(stored, 0, out);
  }
  std::shared_ptr<const detail::encoded_rows> encoded() const override { return rows_; }

 private:
  class rows final : public detail::encoded_rows {
   public:
    rows(std::vector<std::byte> bytes, std::size_t chunk_bytes, std::shared_ptr<record> record)
        : bytes_{std::move(bytes)},
          chunk_bytes_{chunk_bytes},
          record_{std::move(record)},
          step_{.filter = record_->filter} {}

    std::uint64_t rows_per_block() const noexcept override { return 1; }
    std::span<const block_step> steps() const noexcept override { return {&step_, 1}; }
    encoded_blocks::stored_block stored(std::uint64_t /*chunk*/) const noexcept override {
      return {.bytes = chunk_bytes_ + 1};
    }
    std::size_t max_stored_bytes() const noexcept override { return chunk_bytes_ + 1; }
    void read(std::uint64_t chunk, std::span<std::byte> out) const override {
      ++record_->stored_reads;
      fetch(chunk, out);
    }
    void fetch(std::uint64_t chunk, std::span<std::byte> out) const {
      for (std::size_t i = 0; i < chunk_bytes_; ++i) {
        const std::size_t at = chunk * chunk_bytes_ + i;
        out[i] = at < bytes_.size() ? ~bytes_[at] : std::byte{0};
      }
      out[chunk_bytes_] = std::byte{record_->damaged.count(chunk) != 0};
    }
    void decode(std::span<const std::byte> stored, std::uint32_t /*skipped*/,
                std::span<std::byte> out) const override {
      if (stored.size() != chunk_bytes_ + 1 || stored.back() != std::byte{0})
        throw dataset_error{{.path = "chunks", .field = "x"}, "a chunk is damaged"};
      for (std::size_t i = 0; i < chunk_bytes_; ++i) out[i] = ~stored[i];
    }

   private:
    const std::vector<std::byte> bytes_;
    const std::size_t chunk_bytes_;
    const std::shared_ptr<record> record_;
    const block_step step_;
  };

  const std::shared_ptr<const rows> rows_;
  const std::shared_ptr<record> record_;
};

/// An array of one dimension in such chunks, filled with 0 where they are absent.
template <class Value>
array_ptr make_stored_line(std::string name, element_type type, const std::vector<Value>& values,
                           std::uint64_t chunk,
                           const std::shared_ptr<stored_chunks::record>& record) {
  const auto bytes = std::as_bytes(std::span{values});
  return detail::make_chunked_array(
      {.name = std::move(name), .type = type, .shape = {values.size()}, .chunk = {chunk}},
      std::make_unique<const stored_chunks>(std::vector<std::byte>{bytes.begin(), bytes.end()},
                                            chunk * sizeof(Value), record),
      std::vector<std::byte>(sizeof(Value)), 4 * chunk * sizeof(Value));
}

}  // namespace feedline::test
