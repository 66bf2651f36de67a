#pragma once

#include "arrays/chunked_array.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

/// Values of an array of u32 at which each element is its row-major number.
[[nodiscard]] inline std::vector<std::uint32_t> numbered(const std::vector<std::uint64_t>& shape) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  return values;
}

/// Chunks of such an array. Counts reads; chunks named in `absent` were never written, and reading
/// those in `damaged` throws.
class numbered_chunks final : public detail::chunk_source {
 public:
  struct record {
    std::atomic<std::uint64_t> reads{0};
    std::set<std::uint64_t> absent = {};
    std::set<std::uint64_t> damaged = {};
  };

  numbered_chunks(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk,
                  std::shared_ptr<record> record)
      : shape_{std::move(shape)}, chunk_{std::move(chunk)}, record_{std::move(record)} {}

  bool is_written(std::uint64_t chunk) const noexcept override {
    return record_->absent.count(chunk) == 0;
  }

  void read(std::uint64_t chunk, std::span<std::byte> out) const override {
    ++record_->reads;
    if (record_->damaged.count(chunk) != 0)
      throw dataset_error{{.path = "chunks", .field = "x"},
                          "chunk " + std::to_string(chunk) + " is damaged"};
    const std::size_t rank = shape_.size();
    std::vector<std::uint64_t> first(rank);
    for (std::size_t d = rank; d-- > 0;) {
      const std::uint64_t grid = (shape_[d] + chunk_[d] - 1) / chunk_[d];
      first[d] = chunk % grid * chunk_[d];
      chunk /= grid;
    }
    for (std::size_t i = 0; i < out.size() / sizeof(std::uint32_t); ++i) {
      std::uint64_t rest = i;
      std::uint64_t number = 0;
      std::uint64_t stride = 1;
      bool is_inside = true;
      for (std::size_t d = rank; d-- > 0;) {
        const std::uint64_t at = first[d] + rest % chunk_[d];
        rest /= chunk_[d];
        is_inside = is_inside && at < shape_[d];
        number += at * stride;
        stride *= shape_[d];
      }
      const auto value = is_inside ? static_cast<std::uint32_t>(number) : 0xdead'beefU;
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  }

 private:
  const std::vector<std::uint64_t> shape_;
  const std::vector<std::uint64_t> chunk_;
  const std::shared_ptr<record> record_;
};

}  // namespace feedline::test
