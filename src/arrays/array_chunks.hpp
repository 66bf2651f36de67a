#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "dataset/encoded_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The chunks of several arrays; an array is a field.
class array_chunks final : public encoded_blocks {
 public:
  explicit array_chunks(std::vector<std::shared_ptr<const encoded_rows>> arrays)
      : arrays_{std::move(arrays)} {}

  std::uint64_t rows() const noexcept override { return 1; }
  std::span<const block_step> steps(std::size_t array) const noexcept override {
    return arrays_[array]->steps();
  }
  stored_block stored(std::size_t array, std::uint64_t chunk) const noexcept override {
    return arrays_[array]->stored(chunk);
  }
  std::size_t max_stored_bytes(std::size_t array) const noexcept override {
    return arrays_[array]->max_stored_bytes();
  }
  stored_block read(std::size_t array, std::uint64_t chunk, std::span<std::byte> out,
                    const sample_context& /*context*/) const override {
    arrays_[array]->read(chunk, out);
    return stored(array, chunk);
  }
  void decode(std::size_t array, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    arrays_[array]->decode(bytes, stored.skipped, out);
  }

 private:
  const std::vector<std::shared_ptr<const encoded_rows>> arrays_;
};

}  // namespace feedline::detail
