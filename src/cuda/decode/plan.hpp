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
  std::uint32_t checked = 0;   ///< loads with a checksum
  std::uint32_t moved = 0;     ///< loads whose bytes a kernel of ours moves
  std::uint32_t inflated = 0;  ///< loads that nvCOMP decodes
  std::uint32_t unzstd = 0;
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
  std::size_t bad = 0;       ///< a word for each load: not 0 if it does not decode
  std::size_t checksum = 0;  ///< a word for each load: the Adler-32 that a zlib stream says
  std::size_t batch = 0;     ///< nvCOMP's arrays
  std::size_t scratch[2] = {};
  std::size_t scratch_bytes[2] = {};  ///< of a load; 0: none is needed
  std::size_t codec = 0;              ///< nvCOMP's temporary memory
  std::size_t bytes = 0;              ///< of all
};

/// Bytes of an entry in nvCOMP's arrays: two pointers, three sizes, a status, a load's number.
inline constexpr std::size_t batch_entry_bytes = 5 * 8 + 2 * 4;
/// In front of them: their count, and a harmless stream of each kind.
inline constexpr std::size_t batch_header_bytes = 256;

/// The largest blocks that a load decodes to, checksums included; 0 with no such codec.
struct codec_sizes {
  std::size_t inflated = 0;
  std::size_t unzstd = 0;
};
[[nodiscard]] codec_sizes sizes_for_codecs(std::span<const decode_program> programs) noexcept;

/// @param codec_bytes nvCOMP's temporary memory.
[[nodiscard]] decoder_layout lay_out_decoder(std::span<const decode_program> programs,
                                             std::size_t max_loads,
                                             std::size_t codec_bytes) noexcept;

}  // namespace feedline::detail
