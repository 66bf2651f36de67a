#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace feedline::detail {

/// Bytes that grow to the most ever asked for. What they hold is lost when they grow.
class growing_bytes {
 public:
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes) {
    if (bytes > capacity_) {
      bytes_ = nullptr;  // before more is asked for, so that there are never two
      capacity_ = 0;
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return {bytes_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
};

/// A decoder of another library, in the hands of the filter that made it.
using foreign_decoder = std::unique_ptr<void, void (*)(void*)>;

/// What one thread undoes filters with.
struct hdf5_filter_scratch {
  growing_bytes between[2];  ///< what one filter yields and the next one takes, by turns
  growing_bytes block;       ///< a block, decompressed and not yet put in order
  growing_bytes planes;      ///< a block, half put in order
  foreign_decoder libdeflate{nullptr, nullptr};
  foreign_decoder zlib{nullptr, nullptr};
  foreign_decoder zstd{nullptr, nullptr};
};

}  // namespace feedline::detail
