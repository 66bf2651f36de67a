#pragma once

#include "cuda/decode/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// nvCOMP's arrays for one step of one kind, in device memory: an entry for each block.
struct codec_batch {
  const void** from = nullptr;
  void** to = nullptr;
  std::size_t* from_bytes = nullptr;
  std::size_t* to_bytes = nullptr;  ///< room for them
  std::size_t* decoded_bytes = nullptr;
  std::int32_t* status = nullptr;
  std::uint32_t* load = nullptr;   ///< whose entry it is
  std::uint32_t* count = nullptr;  ///< of the entries that were written
  /// Streams that decode to nothing, for those of which it is known that they do not decode.
  const std::byte* empty_deflate = nullptr;
  const std::byte* empty_zstd = nullptr;
};

inline constexpr std::size_t empty_deflate_at = 16;  ///< in the batch's header
inline constexpr std::size_t empty_zstd_at = 32;

/// @param memory `batch_header_bytes` and `batch_entry_bytes` for each load.
[[nodiscard]] inline codec_batch batch_in(std::byte* memory, std::size_t max_loads) noexcept {
  codec_batch batch;
  batch.count = reinterpret_cast<std::uint32_t*>(memory);
  batch.empty_deflate = memory + empty_deflate_at;
  batch.empty_zstd = memory + empty_zstd_at;
  std::byte* at = memory + batch_header_bytes;
  const auto take = [&]<class T>(T*& array) {
    array = reinterpret_cast<T*>(at);
    at += max_loads * sizeof(T);
  };
  take(batch.from);
  take(batch.to);
  take(batch.from_bytes);
  take(batch.to_bytes);
  take(batch.decoded_bytes);
  take(batch.status);
  take(batch.load);
  return batch;
}

}  // namespace feedline::detail
