#include "codecs/blosc/frame.hpp"
#include "codecs/inflate/gzip.hpp"
#include "codecs/inflate/inflate.hpp"
#include "codecs/inflate/zlib.hpp"
#include "codecs/lz/bit_blocks.hpp"
#include "codecs/png/checksum.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/moves.cuh"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/checksums.cuh"
#include "cuda/kernel/warp.cuh"
#include "cuda/load_kernels.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

__device__ std::uint32_t thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void __launch_bounds__(decode_threads)
    begin_kernel(const __grid_constant__ decode_frame frame) {
  const std::uint32_t number = thread_number();
  if (number >= frame.count) return;
  const block_load& load = frame.loads[number];
  const bool can = load.field < frame.fields && can_decode(frame.programs[load.field], load);
  frame.bad[number] = can ? 0 : 1;
}

__global__ void __launch_bounds__(decode_threads)
    check_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (task.does != decode_operation::check_fletcher32) return;
  const std::byte* const from = address_of(frame, number, frame.loads[number], task.from);
  const std::uint32_t is = fletcher32(from, static_cast<std::uint32_t>(task.to_bytes));
  if (threadIdx.x != 0) return;
  std::uint32_t said = 0;
  for (std::uint32_t i = checksum_bytes; i-- > 0;)
    said = said << 8U | static_cast<std::uint32_t>(from[task.to_bytes + i]);
  const std::uint32_t swapped = ((is & 0x00FF00FFU) << 8U) | ((is & 0xFF00FF00U) >> 8U);
  if (said != swapped && said != is) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(decode_threads)
    move_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step,
                std::uint32_t tiles) {
  __shared__ alignas(16) std::byte shared[decode_tile_bytes];
  const std::uint32_t number = blockIdx.x / tiles;
  const tile_share share{blockIdx.x - number * tiles, tiles};
  const decode_task task = task_of(frame, number, step);
  if (!moves(task.does)) return;
  const block_load& load = frame.loads[number];
  const std::byte* const from = address_of(frame, number, load, task.from);
  std::byte* const to = address_of(frame, number, load, task.to);
  const auto bytes = static_cast<std::uint32_t>(task.to_bytes);
  switch (task.does) {
    case decode_operation::copy:
      copy_tiles(to, from, bytes, share);
      break;
    case decode_operation::join_bytes:
      join_bytes(to, from, bytes, task.element_bytes, share, shared);
      break;
    case decode_operation::join_bits:
      join_bits(to, from, bytes, task.element_bytes, default_bit_block(task.element_bytes), share,
                shared);
      break;
    case decode_operation::join_said_bits:
      join_bits(to, from, bytes, task.element_bytes, frame.said[number], share, shared);
      break;
    case decode_operation::join_said_blocks:
      join_blosc(to, from, bytes, frame.said[number], frame.said[frame.count + number], share,
                 shared);
      break;
    default:
      break;  // done by another kernel
  }
}

/// CRC-32 of a gzip file's content, by all threads of a thread block.
__device__ std::uint32_t crc32(const std::byte* from, std::uint32_t bytes) {
  const auto* const content = reinterpret_cast<const std::uint8_t*>(from);
  return ~xor_of_threads(crc_part(content, bytes, threadIdx.x, decode_threads));
}

__device__ bool is_stream(const decode_task& task) {
  return task.does == decode_operation::inflate || task.does == decode_operation::inflate_gzip;
}

/// Where a stream begins in a load, and where the checksum after it is.
struct stream_frame {
  std::uint32_t header_bytes;  ///< 0: there is no good header
  std::uint32_t end_bytes;     ///< after the stream
};

/// All threads of a warp find the same header. They take one thread's result, so that the compiler
/// knows this: else it makes them wait for each other after every branch of the decoder.
__device__ stream_frame frame_of_stream(const decode_task& task, const std::byte* from) {
  const bool is_zlib = task.does == decode_operation::inflate;
  const std::uint32_t header_bytes =
      is_zlib ? (is_zlib_header(from) ? zlib_header_bytes : 0)
              : gzip_header_bytes(from, static_cast<std::uint32_t>(task.bytes));
  return {warp_team::from(header_bytes, 0), is_zlib ? checksum_bytes : gzip_end_bytes};
}

/// A warp decodes a stream. A warp is a thread block by itself, so that it does not wait for the
/// longest stream of other warps.
__global__ void __launch_bounds__(warp_team::width)
    inflate_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ inflate_tables tables;
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (!is_stream(task)) return;
  const block_load& load = frame.loads[number];
  const std::byte* const from = address_of(frame, number, load, task.from);
  std::byte* const to = address_of(frame, number, load, task.to);
  const stream_frame place = frame_of_stream(task, from);
  bool good = place.header_bytes != 0;
  std::uint32_t said = 0;
  if (good) {
    const std::byte* const stream = from + place.header_bytes;
    const std::uint32_t stream_bytes = static_cast<std::uint32_t>(task.bytes) - place.header_bytes;
    const auto room = static_cast<std::uint32_t>(task.to_bytes);
    inflater<warp_team> inflater{stream, stream_bytes, to, room, tables};
    const inflated result = inflater.run();
    good = result.good && stream_bytes - result.bytes >= place.end_bytes;
    const std::byte* const end = stream + result.bytes;
    if (good && task.does == decode_operation::inflate) {
      said = static_cast<std::uint32_t>(big_endian(end, checksum_bytes));
    } else if (good) {
      said = static_cast<std::uint32_t>(little_endian(end, checksum_bytes));
      good = little_endian(end + checksum_bytes, 4) == room;
    }
  }
  if (warp_team::lane() != 0) return;
  frame.said[number] = said;
  if (!good) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(decode_threads)
    stream_check_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (!is_stream(task)) return;
  const std::byte* const decoded = address_of(frame, number, frame.loads[number], task.to);
  const auto bytes = static_cast<std::uint32_t>(task.to_bytes);
  const std::uint32_t is =
      task.does == decode_operation::inflate ? adler32(decoded, bytes) : crc32(decoded, bytes);
  if (threadIdx.x == 0 && is != frame.said[number]) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(decode_threads)
    state_kernel(const __grid_constant__ decode_frame frame) {
  const std::uint32_t number = thread_number();
  if (number >= frame.count) return;
  const block_load& load = frame.loads[number];
  if (load.field >= frame.fields || load.place >= frame.programs[load.field].places) return;
  frame.states[std::size_t{load.place} * frame.fields + load.field] = frame.bad[number];
}

__global__ void __launch_bounds__(decode_threads)
    find_bad_kernel(block_decoder::check check, const std::uint32_t* states, std::uint32_t fields,
                    std::uint32_t places, std::uint32_t rows) {
  const std::uint32_t sample = thread_number();
  if (sample >= check.samples) return;
  const std::uint32_t place = check.sources[sample] / rows;
  bool bad = place >= places;
  for (std::uint32_t field = 0; field < fields && !bad; ++field)
    bad = states[std::size_t{place} * fields + field] != 0;
  if (bad) atomicMin(check.first_bad, sample);
}

std::uint32_t blocks_for(std::uint32_t threads) {
  return threads / decode_threads + (threads % decode_threads != 0 ? 1 : 0);
}

}  // namespace

void load_decode_kernels() {
  load_kernels(begin_kernel, check_kernel, move_kernel, inflate_kernel, stream_check_kernel,
               state_kernel, find_bad_kernel);
}

void issue_begin(const decode_frame& frame, cudaStream_t stream) {
  launch(begin_kernel, blocks_for(frame.count), decode_threads, stream, decode_frame{frame});
}

void issue_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(check_kernel, frame.count, decode_threads, stream, decode_frame{frame}, step);
}

void issue_moves(const decode_frame& frame, std::uint32_t step, const decode_round& round,
                 cudaStream_t stream) {
  constexpr std::uint64_t max_tiles = 256;
  const auto tiles =
      static_cast<std::uint32_t>(std::min(round.moved_bytes / decode_tile_bytes + 1, max_tiles));
  launch(move_kernel, frame.count * tiles, decode_threads, stream, decode_frame{frame}, step,
         std::uint32_t{tiles});
}

void issue_inflate(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(inflate_kernel, frame.count, warp_team::width, stream, decode_frame{frame}, step);
}

void issue_stream_checks(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(stream_check_kernel, frame.count, decode_threads, stream, decode_frame{frame}, step);
}

void issue_states(const decode_frame& frame, cudaStream_t stream) {
  launch(state_kernel, blocks_for(frame.count), decode_threads, stream, decode_frame{frame});
}

void issue_find_bad(const block_decoder::check& check, const std::uint32_t* states,
                    std::uint32_t fields, std::uint32_t places, std::uint32_t rows,
                    cudaStream_t stream) {
  launch(find_bad_kernel, blocks_for(check.samples), decode_threads, stream,
         block_decoder::check{check}, states, fields, places, rows);
}

}  // namespace feedline::detail
