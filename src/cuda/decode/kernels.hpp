#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// What the kernels of a call know: all pointers are to device memory.
struct decode_frame {
  const decode_program* programs = nullptr;
  const block_load* loads = nullptr;
  const std::byte* landing_buffer = nullptr;
  std::uint32_t* states = nullptr;
  std::uint32_t* bad = nullptr;  ///< of each load
  /// Of each load: the checksum that its zlib stream says, or the elements of a block that its bit
  /// shuffle says. Only one step of a load is a compression.
  std::uint32_t* said = nullptr;
  std::byte* scratch[2] = {};
  std::size_t scratch_bytes[2] = {};  ///< of a load
  std::uint32_t fields = 0;
  std::uint32_t count = 0;  ///< loads
};

// Each loads kernels on the current GPU: those issued below. @throws cuda_error.

void load_decode_kernels();  ///< all but those of Zstandard and LZ4
void load_zstd_kernels();
void load_lz4_kernels();

// Each issues one kernel on a stream of the current GPU. @throws cuda_error.

/// Notes which loads can be worked at. First of all.
void issue_begin(const decode_frame& frame, cudaStream_t stream);
/// Compares the checksums of the loads that have one in a step.
void issue_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Moves the bytes of the loads that a kernel of ours moves in a step.
void issue_moves(const decode_frame& frame, std::uint32_t step, const decode_round& round,
                 cudaStream_t stream);
/// Decodes the zlib streams of a step.
void issue_inflate(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Compares what came out of them with the checksums that they say.
void issue_stream_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the frames of Zstandard of a step, and compares their checksums.
void issue_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the blocks of LZ4 of a step.
void issue_lz4(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the blocks of a step that the bit shuffle compressed; bits stay shuffled.
void issue_zstd_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
void issue_lz4_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Writes the states of the loads' blocks. Last of all.
void issue_states(const decode_frame& frame, cudaStream_t stream);

/// The smallest sample whose block is not decoded; `first_bad` was set to 0xFFFFFFFF.
void issue_find_bad(const block_decoder::check& check, const std::uint32_t* states,
                    std::uint32_t fields, std::uint32_t places, std::uint32_t rows,
                    cudaStream_t stream);

}  // namespace feedline::detail
