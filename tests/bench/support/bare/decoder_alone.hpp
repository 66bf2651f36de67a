#pragma once

#include <feedline/backend/block_decoder.hpp>
#include <feedline/backend/device.hpp>

#include "bench/support/gpu_stream.hpp"
#include "device/owned.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::bench {

/// Chunks as they are stored, and how a GPU decodes them.
struct encoded_chunks {
  std::vector<block_step> steps;
  std::span<const std::vector<std::byte>> stored;
  std::size_t chunk_bytes;  ///< decoded
  std::uint32_t rows;       ///< number of rows of a chunk
};

/// Chunks in the GPU's memory, and a decoder for as many.
class decoder_alone {
 public:
  /// @param count Chunks that are decoded at a time; those of `chunks` are repeated.
  decoder_alone(const encoded_chunks& chunks, std::uint32_t count);
  /// Decoded bytes a second.
  double rate(double seconds);

 private:
  double run(int turns);

  device_ptr device_;
  gpu_stream stream_;
  std::size_t decoded_bytes_;
  detail::device_memory staged_;
  detail::device_memory destination_;
  detail::device_memory store_;
  detail::device_memory states_;
  std::unique_ptr<block_decoder> decoder_;
  block_decoder::work work_;
};

}  // namespace feedline::bench
