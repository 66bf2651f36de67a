#pragma once

#include "codecs/lz/framed_blocks.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/program.hpp"
#include "cuda/kernel/launch.cuh"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Functions with which kernels that decode begin.

/// Address of a load's bytes.
__device__ inline std::byte* address_of(const decode_frame& frame, std::uint32_t number,
                                        const block_load& load, bytes_place place) {
  const std::size_t at = number;
  switch (place) {
    case bytes_place::scratch_a:
      return frame.scratch[0] + at * frame.scratch_bytes[0];
    case bytes_place::scratch_b:
      return frame.scratch[1] + at * frame.scratch_bytes[1];
    case bytes_place::store: {
      const decode_program& program = frame.programs[load.field];
      return program.blocks + load.place * program.block_bytes;
    }
    case bytes_place::copy_destination:
      break;
  }
  return const_cast<std::byte*>(frame.copy_destination) + std::size_t{load.at} * 16;  // only read
}

/// The step of a load; no operation if the load is known to be undecodable.
__device__ inline decode_task task_of(const decode_frame& frame, std::uint32_t number,
                                      std::uint32_t step) {
  const block_load& load = frame.loads[number];
  if (frame.bad[number] != 0 || step >= frame.programs[load.field].steps) return {};
  return task_at(frame.programs[load.field], load, step);
}

/// Whether this is a load's step, with the same answer for all threads of a warp: if several warps
/// work on a load, one may find damage while others begin.
__device__ inline bool is_task(const decode_task& task, decode_operation does) {
  return __all_sync(0xFFFFFFFF, task.does == does);
}

/// The block that a task decodes.
__device__ inline coded_block block_of(const decode_frame& frame, std::uint32_t number,
                                       const decode_task& task) {
  const block_load& load = frame.loads[number];
  return {address_of(frame, number, load, task.from), static_cast<std::uint32_t>(task.bytes),
          address_of(frame, number, load, task.to), static_cast<std::uint32_t>(task.to_bytes)};
}

}  // namespace feedline::detail
