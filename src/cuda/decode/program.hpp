#pragma once

#include <feedline/backend/block_decoder.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/window_block.hpp>

#include "cuda/decode/jpeg/batch.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

// The steps that decode a field's blocks. Host and kernels compute them alike: the field's program
// and the load together say what a step does, where it reads and where it writes.

/// Operation of a step.
enum class decode_operation : std::uint8_t {
  none,               ///< a step that the load skips
  check_fletcher32,   ///< compares the checksum, and removes it
  inflate,            ///< decodes a zlib stream, and records the checksum that it states
  inflate_gzip,       ///< the same for a gzip file
  decode_zstd,        ///< decodes frames of Zstandard
  decode_lz4,         ///< decodes blocks of LZ4
  decode_zstd_bits,   ///< decodes Zstandard within the bit shuffle, and records its block size
  decode_lz4_bits,    ///< the same with LZ4
  decode_blosc_lz4,   ///< decodes LZ4 within Blosc's frame, and records its blocks
  decode_blosc_zstd,  ///< the same with Zstandard
  decode_blosc_zlib,  ///< the same with zlib
  join_bytes,         ///< undoes the byte shuffle
  join_bits,          ///< undoes the bit shuffle
  join_said_bits,     ///< undoes the bit shuffle in blocks of the recorded size
  join_said_blocks,   ///< undoes the shuffle that Blosc's frame states, in blocks of its size
  cut_window,         ///< copies boxes of decoded chunks
  make_dense,         ///< adds the values of a sparse row to zeros
  decode_image,       ///< makes a row from an image file
  copy,               ///< copies to the block's memory, if the bytes are not there yet
};

struct decode_step {
  decode_operation does = decode_operation::none;
  std::uint8_t bit = 0;  ///< bit of `block_load::skipped`; `never_skipped`: no bit
  std::uint32_t element_bytes = 1;
};

inline constexpr std::uint8_t never_skipped = 32;
/// One step for each step of an encoding, one more if a shuffle compresses, and the copy.
inline constexpr std::size_t max_decode_steps = 34;
inline constexpr std::uint32_t checksum_bytes = 4;
inline constexpr std::uint32_t zlib_header_bytes = 2;
inline constexpr std::uint32_t zlib_frame_bytes = zlib_header_bytes + checksum_bytes;
inline constexpr std::uint32_t least_gzip_bytes = 18;  ///< its header, and two numbers at the end

/// A field's steps in the order in which they are run.
struct decode_program {
  std::byte* blocks = nullptr;
  std::uint64_t block_bytes = 0;
  std::uint64_t max_stored_bytes = 0;
  std::uint64_t usual_stored_bytes = 0;  ///< 0: unknown
  image_row image = {};                  ///< for `decode_image`
  sparse_types sparse = {};              ///< for `make_dense`
  std::uint32_t places = 0;
  bool varies = false;  ///< rows may be smaller than `block_bytes`
  std::uint32_t steps = 0;
  decode_step step[max_decode_steps];
};

/// The memory that holds a load's bytes.
enum class bytes_place : std::uint8_t { copy_destination, scratch_a, scratch_b, store };

/// The work of one step for one load.
struct decode_task {
  decode_operation does = decode_operation::none;
  bytes_place from = bytes_place::copy_destination;
  bytes_place to = bytes_place::copy_destination;
  bool possible = true;  ///< false if the load's sizes do not fit: then nothing is done
  std::uint32_t element_bytes = 1;
  std::uint64_t bytes = 0;
  std::uint64_t to_bytes = 0;  ///< the exact number of bytes that must come out
};

/// Whether a step's output is in other memory than its input.
FEEDLINE_HOST_DEVICE constexpr bool moves(decode_operation does) noexcept {
  return does != decode_operation::none && does != decode_operation::check_fletcher32;
}

FEEDLINE_HOST_DEVICE constexpr bool takes_step(const decode_step& step,
                                               std::uint32_t skipped) noexcept {
  return step.bit == never_skipped || ((skipped >> step.bit) & 1U) == 0;
}

/// Bytes of a block and the checksums that still follow it after a step.
FEEDLINE_HOST_DEVICE constexpr std::uint64_t bytes_behind(const decode_program& program,
                                                          std::uint32_t skipped,
                                                          std::uint32_t step) noexcept {
  std::uint64_t bytes = program.block_bytes;
  for (std::uint32_t i = step + 1; i < program.steps; ++i)
    if (program.step[i].does == decode_operation::check_fletcher32 &&
        takes_step(program.step[i], skipped))
      bytes += checksum_bytes;
  return bytes;
}

/// The next step of a load whose bytes are in `from`.
FEEDLINE_HOST_DEVICE constexpr decode_task next_task(const decode_program& program,
                                                     const block_load& load, std::uint32_t step,
                                                     bytes_place from,
                                                     std::uint64_t bytes) noexcept {
  const decode_step& is = program.step[step];
  decode_task task;
  task.from = task.to = from;
  task.bytes = task.to_bytes = bytes;
  if (!takes_step(is, load.skipped)) return task;
  if (is.does == decode_operation::copy && from == bytes_place::store) return task;
  task.does = is.does;
  task.element_bytes = is.element_bytes;
  switch (is.does) {
    case decode_operation::check_fletcher32:
      task.possible = bytes >= checksum_bytes;
      task.to_bytes = bytes - checksum_bytes;
      break;
    case decode_operation::inflate:
      task.possible = bytes > zlib_frame_bytes;
      task.to_bytes = bytes_behind(program, load.skipped, step);
      break;
    case decode_operation::inflate_gzip:
      task.possible = bytes > least_gzip_bytes;
      task.to_bytes = bytes_behind(program, load.skipped, step);
      break;
    case decode_operation::decode_zstd:
    case decode_operation::decode_lz4:
    case decode_operation::decode_zstd_bits:
    case decode_operation::decode_lz4_bits:
    case decode_operation::decode_blosc_lz4:
    case decode_operation::decode_blosc_zstd:
    case decode_operation::decode_blosc_zlib:
      task.possible = bytes > 0;
      task.to_bytes = bytes_behind(program, load.skipped, step);
      break;
    case decode_operation::join_bits:
    case decode_operation::join_said_bits:
      task.possible = bytes % is.element_bytes == 0;
      break;
    case decode_operation::decode_image:
      task.possible =
          bytes > 0 && is_jpeg_decoded(program.image, {load.height, load.width}, load.window,
                                       load.format, load.in_row, image_turn{load.orientation});
      task.to_bytes = program.block_bytes;
      break;
    case decode_operation::cut_window:
    case decode_operation::make_dense:
      task.possible = bytes >= sizeof(window_block);
      task.to_bytes = program.block_bytes;
      break;
    case decode_operation::copy:
      task.possible = bytes == program.block_bytes ||
                      (program.varies && bytes > 0 && bytes < program.block_bytes);
      break;
    case decode_operation::none:
    case decode_operation::join_bytes:
    case decode_operation::join_said_blocks:
      break;
  }
  if (!moves(is.does)) return task;
  bool is_last = task.to_bytes == program.block_bytes;
  for (std::uint32_t i = step + 1; i + 1 < program.steps; ++i)
    if (takes_step(program.step[i], load.skipped)) is_last = false;
  task.to = is_last || is.does == decode_operation::copy ? bytes_place::store
            : from == bytes_place::scratch_a             ? bytes_place::scratch_b
                                                         : bytes_place::scratch_a;
  return task;
}

/// A step of a load. It is impossible if an earlier step is.
FEEDLINE_HOST_DEVICE constexpr decode_task task_at(const decode_program& program,
                                                   const block_load& load,
                                                   std::uint32_t step) noexcept {
  decode_task task;
  task.to_bytes = load.bytes;
  task.possible =
      load.missing == 0 && load.place < program.places && load.bytes <= program.max_stored_bytes;
  for (std::uint32_t i = 0; i <= step && task.possible; ++i)
    task = next_task(program, load, i, task.to, task.to_bytes);
  return task;
}

/// Whether all steps of a load are possible, so that it is decoded.
FEEDLINE_HOST_DEVICE constexpr bool can_decode(const decode_program& program,
                                               const block_load& load) noexcept {
  return task_at(program, load, program.steps - 1).possible;
}

/// The reason why a field's blocks cannot be decoded, whatever libraries there are; empty if they
/// can. Names the first step that cannot be undone.
[[nodiscard]] std::string refusal_of_program(std::span<const block_step> steps);

/// Name of a step, such as "deflate".
[[nodiscard]] std::string name_of(block_filter filter);

/// @param field A field that `refusal_of_program` does not refuse.
[[nodiscard]] decode_program make_program(const block_store::field& field, std::uint32_t places);

}  // namespace feedline::detail
