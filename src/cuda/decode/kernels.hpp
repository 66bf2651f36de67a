#pragma once

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Parameters of a call's kernels: all pointers are to device memory.
struct decode_frame {
  const decode_program* programs = nullptr;
  const block_load* loads = nullptr;
  const std::byte* copy_destination = nullptr;
  std::uint32_t* states = nullptr;
  std::uint32_t* bad = nullptr;  ///< one word for each load
  /// A word for each load: the checksum that its zlib stream or gzip file states, the number of
  /// elements in a block that its bit shuffle states, or the bytes of a block that its frame of
  /// Blosc states; one word is enough, because only one step of a load is a compression. After
  /// `count` words, with Blosc: another for each load, its shuffle and the bytes of an element.
  std::uint32_t* said = nullptr;
  std::byte* scratch[2] = {};
  std::size_t scratch_bytes[2] = {};  ///< bytes for each load
  std::uint32_t fields = 0;
  std::uint32_t count = 0;  ///< number of loads
};

// Each function loads the kernels on the current GPU that are issued below. @throws cuda_error.

void load_decode_kernels();  ///< all but those of the functions below
void load_zstd_kernels();
void load_lz4_kernels();
void load_blosc_zlib_kernels();
void load_window_kernels();
void load_sparse_kernels();

// Each function issues one kernel on a stream of the current GPU. @throws cuda_error.

/// Marks the loads that can be decoded. Must come first.
void issue_begin(const decode_frame& frame, cudaStream_t stream);
/// Compares the checksums of the loads that have one in a step.
void issue_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Moves the bytes of the loads that one of our kernels moves in a step.
void issue_moves(const decode_frame& frame, std::uint32_t step, const decode_round& round,
                 cudaStream_t stream);
/// Decodes the zlib streams and gzip files of a step.
void issue_inflate(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Compares the decoded bytes with the checksums that the streams state.
void issue_stream_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the frames of Zstandard of a step, and compares their checksums.
void issue_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the blocks of LZ4 of a step.
void issue_lz4(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the blocks of a step that the bit shuffle compressed; bits stay shuffled.
void issue_zstd_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
void issue_lz4_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Decodes the frames of Blosc of a step; elements stay shuffled.
void issue_blosc_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
void issue_blosc_lz4(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
void issue_blosc_zlib(const decode_frame& frame, std::uint32_t step, cudaStream_t stream);
/// Cuts the windows of a step out of chunks, whose decoding was issued on the same stream.
/// @param chunks Frame of the decoder of chunks. @param row_bytes Bytes of the largest row.
void issue_cuts(const decode_frame& frame, const decode_frame& chunks, std::uint32_t step,
                std::uint64_t row_bytes, cudaStream_t stream);
/// Makes the rows of a step dense.
/// @param chunks Frame of the decoder of chunks; null: blocks hold all numbers.
void issue_sparse_rows(const decode_frame& frame, const decode_frame* chunks, std::uint32_t step,
                       cudaStream_t stream);
/// Writes the states of the loads' blocks. Must come last.
void issue_states(const decode_frame& frame, cudaStream_t stream);

/// Finds the smallest sample whose block was not decoded; `first_bad` must be 0xFFFFFFFF before.
void issue_find_bad(const block_decoder::check& check, const std::uint32_t* states,
                    std::uint32_t fields, std::uint32_t places, std::uint32_t rows,
                    cudaStream_t stream);

}  // namespace feedline::detail
