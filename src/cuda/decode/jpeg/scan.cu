#include "cuda/decode/jpeg/image_memory.cuh"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/kernel/block_team.cuh"
#include "cuda/kernel/launch.cuh"
#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_intervals.hpp"
#include "image/jpeg/scan_segments.hpp"

#include <cstdint>

namespace feedline::detail {
namespace {

using scan_team = block_team<128>;

/// Whether a file has this image, and a place for its blocks.
__device__ bool read_header(const jpeg_image& image, jpeg_frame& frame) {
  return read_jpeg_frame(image.file, image.bytes, frame) && frame.height == image.extents.height &&
         frame.width == image.extents.width && frame.components == 3;
}

__device__ void end_scan(const jpeg_batch& batch, const jpeg_image& image, image_header& header,
                         jpeg_verdict verdict) {
  if (threadIdx.x != 0) return;
  header.scan = verdict;
  if (verdict == jpeg_verdict::broken && !batch.allow_damaged) batch.bad[image.number] = 1;
}

/// A thread block decodes a file, if it is one of those that lanes decode at once.
__global__ void __launch_bounds__(scan_team::lanes)
    segments_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ scan_team::memory shared;
  __shared__ jpeg_scan_tables tables;
  __shared__ jpeg_segment_tables segment_tables;
  __shared__ jpeg_frame frame;
  __shared__ jpeg_factors factors;
  const jpeg_image& image = batch.images[blockIdx.x];
  const image_memory memory{batch, image};
  scan_team team{shared};
  const bool is_read = team.once([&] {
    if (!read_header(image, frame)) return false;
    build(factors, image.file, frame);
    return true;
  });
  if (!is_read) {
    if (threadIdx.x == 0) {
      memory.header->frame = {};
      memory.header->scan = jpeg_verdict::broken;
      batch.bad[image.number] = 1;
    }
    return;
  }
  if (threadIdx.x == 0) memory.header->frame = frame;
  const std::uint32_t count = frame.mcus() * frame.blocks();
  auto* const words = reinterpret_cast<uint4*>(memory.blocks);
  constexpr std::uint32_t block_words = jpeg_block_samples * sizeof(std::int16_t) / sizeof(uint4);
  for (std::uint32_t i = threadIdx.x; i < count * block_words; i += scan_team::lanes) words[i] = {};
  __syncthreads();
  const jpeg_scan scan{image.file, image.bytes, frame, tables};
  const jpeg_scan_room room{reinterpret_cast<std::uint32_t*>(memory.pixels),
                            4 * image.extents.pixels()};
  jpeg_scan_segments segments{team, scan, {factors, memory.blocks, count}, segment_tables, room};
  end_scan(batch, image, *memory.header, segments.read());
}

/// A thread block decodes a file of the others.
__global__ void __launch_bounds__(scan_team::lanes)
    readers_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ scan_team::memory shared;
  __shared__ jpeg_scan_tables tables;
  __shared__ jpeg_frame frame;
  __shared__ jpeg_factors factors;
  const jpeg_image& image = batch.images[blockIdx.x];
  const image_memory memory{batch, image};
  if (memory.header->scan != jpeg_verdict::unsure) return;
  scan_team team{shared};
  team.once([&] {
    frame = memory.header->frame;
    build(factors, image.file, frame);
    return true;
  });
  const jpeg_coefficient_writer writer{factors, memory.blocks, frame.mcus() * frame.blocks()};
  const bool is_whole = is_jpeg_scan_whole(team, {image.file, image.bytes, frame, tables}, writer);
  end_scan(batch, image, *memory.header, is_whole ? jpeg_verdict::whole : jpeg_verdict::broken);
}

}  // namespace

void issue_scans(const jpeg_batch& batch, cudaStream_t stream) {
  launch(segments_kernel, batch.count, scan_team::lanes, stream, jpeg_batch{batch});
  launch(readers_kernel, batch.count, scan_team::lanes, stream, jpeg_batch{batch});
}

}  // namespace feedline::detail
