#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/decode/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// What one step of all loads is.
struct decode_round {
  std::uint32_t checked = 0;  ///< loads with a checksum
  std::uint32_t moved = 0;    ///< loads whose bytes a kernel of ours moves
  std::uint32_t inflated = 0;
  std::uint32_t zstd = 0;       ///< loads of frames of Zstandard
  std::uint32_t lz4 = 0;        ///< loads of blocks of LZ4
  std::uint32_t zstd_bits = 0;  ///< and of both within the bit shuffle
  std::uint32_t lz4_bits = 0;
  std::uint32_t images = 0;
  std::uint64_t moved_bytes = 0;  ///< of the largest that is moved
};

struct decode_plan {
  std::uint32_t rounds = 0;
  std::array<decode_round, max_decode_steps> round = {};
};

/// What is to be launched for these loads. The kernels find the same loads by themselves.
[[nodiscard]] decode_plan plan_decoding(std::span<const decode_program> programs,
                                        std::span<const block_load> loads) noexcept;

/// What lies where in a decoder's memory: offsets, each a multiple of 256.
struct decoder_layout {
  std::size_t programs = 0;
  std::size_t bad = 0;   ///< a word for each load: not 0 if it does not decode
  std::size_t said = 0;  ///< a word for each load: see `decode_frame`
  std::size_t scratch[2] = {};
  std::size_t scratch_bytes[2] = {};  ///< of a load; 0: none is needed
  std::size_t pixels = 0;             ///< memory for images, of `jpeg_memory_bytes`
  std::size_t pixel_bytes = 0;        ///< 0: there are no images
  std::size_t bytes = 0;              ///< of all
};

[[nodiscard]] decoder_layout lay_out_decoder(std::span<const decode_program> programs,
                                             std::size_t max_loads) noexcept;

}  // namespace feedline::detail
