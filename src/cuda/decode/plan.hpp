#pragma once

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The work of one step, over all loads.
struct decode_round {
  std::uint32_t checked = 0;  ///< loads with a checksum
  std::uint32_t moved = 0;    ///< loads whose bytes one of our kernels moves
  std::uint32_t inflated = 0;
  std::uint32_t zstd = 0;       ///< loads that are frames of Zstandard
  std::uint32_t lz4 = 0;        ///< loads that are blocks of LZ4
  std::uint32_t zstd_bits = 0;  ///< the same within the bit shuffle, like `lz4_bits`
  std::uint32_t lz4_bits = 0;
  std::uint32_t blosc_lz4 = 0;  ///< loads that are frames of Blosc, like the next two
  std::uint32_t blosc_zstd = 0;
  std::uint32_t blosc_zlib = 0;
  std::uint32_t images = 0;
  std::uint32_t windows = 0;
  std::uint32_t sparse = 0;       ///< loads that are sparse rows
  std::uint64_t moved_bytes = 0;  ///< bytes of the largest load that is moved
};

struct decode_plan {
  std::uint32_t rounds = 0;
  std::array<decode_round, max_decode_steps> round = {};
};

/// Plans the launches for these loads. The kernels find the same loads by themselves.
[[nodiscard]] decode_plan plan_decoding(std::span<const decode_program> programs,
                                        std::span<const block_load> loads) noexcept;

/// Layout of a decoder's memory: offsets, each a multiple of 256.
struct decoder_layout {
  std::size_t programs = 0;
  std::size_t bad = 0;   ///< a word for each load: not 0 if the load cannot be decoded
  std::size_t said = 0;  ///< a word for each load, or two: see `decode_frame`
  std::size_t scratch[2] = {};
  std::size_t scratch_bytes[2] = {};  ///< bytes for each load; 0: none are needed
  std::size_t pixels = 0;             ///< memory in which images are decoded
  std::size_t pixel_bytes = 0;        ///< 0: there are no images
  std::size_t bytes = 0;              ///< size of the whole memory
};

/// @param device_bytes Size of the device's memory: large images take a share of it, at most.
[[nodiscard]] decoder_layout lay_out_decoder(std::span<const decode_program> programs,
                                             std::size_t max_loads,
                                             std::size_t device_bytes) noexcept;

}  // namespace feedline::detail
