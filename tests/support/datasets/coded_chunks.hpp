#pragma once

#include <feedline/error.hpp>

#include "arrays/chunked_array.hpp"

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

/// Chunks of bytes that follow from their number, "encoded" by turning each bit over; devices may
/// decode them. Chunks named in `absent` were never written; those in `damaged` do not decode, and
/// those in `unreadable` cannot be read.
class coded_chunks final : public detail::chunk_source {
 public:
  struct record {
    std::atomic<std::uint64_t> reads{0};         ///< reads by readers
    std::atomic<std::uint64_t> stored_reads{0};  ///< reads for devices
    std::set<std::uint64_t> absent = {};
    std::set<std::uint64_t> damaged = {};
    std::set<std::uint64_t> unreadable = {};
    block_filter filter = block_filter::deflate;
  };

  coded_chunks(std::size_t chunk_bytes, std::shared_ptr<record> record)
      : rows_{std::make_shared<const coded_rows>(chunk_bytes, record)},
        record_{std::move(record)} {}

  bool is_written(std::uint64_t chunk) const noexcept override {
    return record_->absent.count(chunk) == 0;
  }
  void read(std::uint64_t chunk, std::span<std::byte> out) const override {
    ++record_->reads;
    std::vector<std::byte> stored(rows_->stored(chunk).bytes);
    rows_->fetch(chunk, stored);
    try {
      rows_->decode(stored, 0, out);
    } catch (const dataset_error&) {
      throw dataset_error{{.path = "chunks", .field = "x"},
                          "chunk " + std::to_string(chunk) + " is damaged"};
    }
  }
  std::shared_ptr<const detail::encoded_rows> encoded() const override { return rows_; }

 private:
  class coded_rows final : public detail::encoded_rows {
   public:
    coded_rows(std::size_t chunk_bytes, std::shared_ptr<record> record)
        : bytes_{chunk_bytes}, record_{std::move(record)}, step_{.filter = record_->filter} {}

    std::uint64_t rows_per_block() const noexcept override { return 1; }
    std::span<const block_step> steps() const noexcept override { return {&step_, 1}; }
    encoded_blocks::stored_block stored(std::uint64_t chunk) const noexcept override {
      return {.bytes = bytes_ + 1 + chunk % 7};
    }
    std::size_t max_stored_bytes() const noexcept override { return bytes_ + 7; }
    void read(std::uint64_t chunk, std::span<std::byte> out) const override {
      ++record_->stored_reads;
      fetch(chunk, out);
    }
    void fetch(std::uint64_t chunk, std::span<std::byte> out) const {
      if (record_->unreadable.count(chunk) != 0)
        throw dataset_error{{.path = "chunks", .field = "x"},
                            "chunk " + std::to_string(chunk) + " cannot be read"};
      for (std::size_t i = 0; i < bytes_; ++i)
        out[i] = ~static_cast<std::byte>((chunk * 2654435761U + i * 97) >> 3U);
      for (std::size_t i = bytes_; i < out.size(); ++i) out[i] = std::byte{0x11};
      if (record_->damaged.count(chunk) != 0) out.back() = std::byte{0x22};
    }
    void decode(std::span<const std::byte> stored, std::uint32_t /*skipped*/,
                std::span<std::byte> out) const override {
      if (out.size() != bytes_ || stored.back() != std::byte{0x11})
        throw dataset_error{{.path = "chunks", .field = "x"}, "does not decode"};
      for (std::size_t i = 0; i < bytes_; ++i) out[i] = ~stored[i];
    }

   private:
    const std::size_t bytes_;
    const std::shared_ptr<record> record_;
    const block_step step_;
  };

  const std::shared_ptr<const coded_rows> rows_;
  const std::shared_ptr<record> record_;
};

/// An array of such chunks. @param cache_bytes Memory in which readers keep chunks.
[[nodiscard]] inline array_ptr make_coded_array(array_spec spec,
                                                const std::shared_ptr<coded_chunks::record>& record,
                                                std::size_t cache_bytes = 1 << 16) {
  std::size_t bytes = size_bytes(spec.type);
  for (const std::uint64_t extent : spec.chunk) bytes *= extent;
  std::vector<std::byte> fill(size_bytes(spec.type));
  for (std::size_t i = 0; i < fill.size(); ++i) fill[i] = static_cast<std::byte>(0xA0 + i);
  return detail::make_chunked_array(std::move(spec),
                                    std::make_unique<const coded_chunks>(bytes, record),
                                    std::move(fill), cache_bytes);
}

}  // namespace feedline::test
