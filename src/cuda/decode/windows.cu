#include <feedline/dataset/window_block.hpp>

#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/launch.cuh"
#include "cuda/load_kernels.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::uint32_t cut_threads = 256;

/// Copies a part of a box's units; the address of each follows from its number.
template <class Unit>
__device__ void copy_units(const window_box& box, const std::byte* from, std::byte* row,
                           std::uint32_t first, std::uint32_t apart) {
  for (std::uint32_t unit = first; unit < box.units; unit += apart) {
    std::int32_t from_at = 0;
    std::int32_t to_at = static_cast<std::int32_t>(box.to);
    std::uint32_t rest = unit;
    for (std::uint32_t d = box.rank; d-- > 0;) {
      const std::uint32_t count = box.count[d];
      const std::uint32_t outer = d == 0 ? 0 : rest / count;
      const auto index = static_cast<std::int32_t>(rest - outer * count);
      from_at += index * box.from_stride[d];
      to_at += index * box.to_stride[d];
      rest = outer;
    }
    *reinterpret_cast<Unit*>(row + to_at) = *reinterpret_cast<const Unit*>(from + from_at);
  }
}

__device__ void copy_box(const window_box& box, const std::byte* from, std::byte* row,
                         std::uint32_t first, std::uint32_t apart) {
  switch (box.unit) {
    case 16:
      return copy_units<uint4>(box, from, row, first, apart);
    case 8:
      return copy_units<std::uint64_t>(box, from, row, first, apart);
    case 4:
      return copy_units<std::uint32_t>(box, from, row, first, apart);
    case 2:
      return copy_units<std::uint16_t>(box, from, row, first, apart);
    default:
      return copy_units<std::uint8_t>(box, from, row, first, apart);
  }
}

/// Copies the boxes of the loads that are windows: `tiles` thread blocks a load.
/// @param fills Copies the boxes that come first, else all others.
__global__ void __launch_bounds__(cut_threads)
    cut_kernel(const __grid_constant__ decode_frame frame, const decode_program* arrays,
               const std::uint32_t* states, std::uint32_t fields, std::uint32_t step,
               std::uint32_t tiles, bool fills) {
  constexpr std::uint32_t words = sizeof(window_box) / sizeof(std::uint32_t);
  __shared__ alignas(16) std::uint32_t shared[words];
  const window_box& box = *reinterpret_cast<const window_box*>(shared);
  const std::uint32_t number = blockIdx.x / tiles;
  const std::uint32_t tile = blockIdx.x - number * tiles;
  const decode_task task = task_of(frame, number, step);
  // Another thread block may find a missing chunk meanwhile; this one's threads stay together.
  if (__syncthreads_and(task.does == decode_operation::cut_window ? 1 : 0) == 0) return;
  const block_load& load = frame.loads[number];
  const std::byte* const block = address_of(frame, number, load, task.from);
  std::byte* const row = address_of(frame, number, load, task.to);
  const window_block head = *reinterpret_cast<const window_block*>(block);
  const auto* const boxes = reinterpret_cast<const window_box*>(block + sizeof head);
  if (sizeof head + std::uint64_t{head.boxes} * sizeof box > task.bytes) {
    if (threadIdx.x == 0) frame.bad[number] = 1;
    return;
  }
  const std::uint32_t end = fills ? min(head.fills, head.boxes) : head.boxes;
  for (std::uint32_t i = fills ? 0 : head.fills; i < end; ++i) {
    __syncthreads();
    if (threadIdx.x < words)
      shared[threadIdx.x] = reinterpret_cast<const std::uint32_t*>(boxes + i)[threadIdx.x];
    __syncthreads();
    const std::byte* from = box.fill;
    if (box.place != window_box::no_chunk) {
      if (states[std::size_t{box.place} * fields + box.field] != 0) {
        if (threadIdx.x == 0) frame.bad[number] = 1;
        continue;
      }
      const decode_program& array = arrays[box.field];
      from = array.blocks + box.place * array.block_bytes + box.from;
    }
    copy_box(box, from, row, tile * cut_threads + threadIdx.x, tiles * cut_threads);
  }
}

}  // namespace

void load_window_kernels() {
  load_kernels(cut_kernel);
}

void issue_cuts(const decode_frame& frame, const decode_frame& chunks, std::uint32_t step,
                std::uint64_t row_bytes, cudaStream_t stream) {
  constexpr std::uint64_t tile_bytes = 32768;
  constexpr std::uint64_t max_tiles = 64;
  const auto tiles = static_cast<std::uint32_t>(std::min(row_bytes / tile_bytes + 1, max_tiles));
  for (const bool fills : {true, false})
    launch(cut_kernel, frame.count * tiles, cut_threads, stream, decode_frame{frame},
           chunks.programs, static_cast<const std::uint32_t*>(chunks.states),
           std::uint32_t{chunks.fields}, std::uint32_t{step}, std::uint32_t{tiles}, bool{fills});
}

}  // namespace feedline::detail
