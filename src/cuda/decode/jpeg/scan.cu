#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan_intervals.hpp"
#include "codecs/jpeg/scan_segments.hpp"
#include "cuda/decode/jpeg/image_memory.cuh"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/kernel/block_team.cuh"
#include "cuda/kernel/launch.cuh"
#include "cuda/load_kernels.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {
namespace {

using scan_team = block_team<128>;

/// Shared memory of one team.
struct scan_memory {
  scan_team::memory team;
  jpeg_scan_tables tables;
  jpeg_frame frame;
};
struct segments_memory : scan_memory {
  jpeg_segment_tables segment_tables;
};

/// Teams of a thread block. Scans wait for memory and for each other's bits most of the time, so
/// many of them share an SM at little loss; a block with many teams leaves other SMs to the user.
constexpr std::uint32_t max_scan_teams = 8;
static_assert(max_scan_teams <= scan_team::max_teams);

/// The number of teams that fit. @param shared_bytes Shared memory of a thread block; every GPU has
/// 48 KiB.
constexpr std::uint32_t scan_teams(std::size_t shared_bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(max_scan_teams, shared_bytes / sizeof(segments_memory)));
}
static_assert(scan_teams(std::size_t{48} << 10) > 0);
static_assert(scan_teams(std::size_t{164} << 10) == max_scan_teams);

/// Reads a file's header. One lane reads it byte by byte, from shared memory unless the header is
/// longer than usual.
/// @return Whether the file has this image, and there is memory for its blocks.
__device__ bool read_header(scan_team& team, const jpeg_image& image, segments_memory& shared,
                            image_header& header) {
  constexpr std::uint32_t usual_bytes = 2048;
  static_assert(usual_bytes <= sizeof shared.segment_tables);
  auto* const words = reinterpret_cast<std::uint32_t*>(shared.segment_tables.codes);
  const std::uint32_t count = min(image.bytes, usual_bytes) / 4;
  for (std::uint32_t i = scan_team::lane(); i < count; i += scan_team::lanes)
    words[i] = reinterpret_cast<const std::uint32_t*>(image.file)[i];
  team.sync();
  return team.once([&] {
    jpeg_frame& frame = shared.frame;
    const auto* file = reinterpret_cast<const std::uint8_t*>(words);
    if (!read_jpeg_frame(file, std::size_t{4} * count, frame)) {
      file = image.file;
      if (!read_jpeg_frame(file, image.bytes, frame)) return false;
    }
    if (frame.height != image.extents.height || frame.width != image.extents.width) return false;
    build(header.factors, file, frame);
    return true;
  });
}

__device__ void end_scan(const jpeg_batch& batch, const jpeg_image& image, image_header& header,
                         jpeg_verdict verdict) {
  if (scan_team::lane() != 0) return;
  header.scan = verdict;
  if (verdict == jpeg_verdict::broken && !batch.allow_damaged) batch.bad[image.number] = 1;
}

/// A team decodes a file, if it is one of those that lanes decode at once.
__global__ void __launch_bounds__(max_scan_teams* scan_team::lanes, 1)
    segments_kernel(const __grid_constant__ jpeg_batch batch) {
  extern __shared__ segments_memory shared_by_teams[];
  const std::uint32_t number = blockIdx.x * (blockDim.x / scan_team::lanes) + scan_team::number();
  if (number >= batch.count) return;
  segments_memory& shared = shared_by_teams[scan_team::number()];
  const jpeg_image& image = batch.images[number];
  const image_memory memory{batch, image};
  scan_team team{shared.team};
  if (!read_header(team, image, shared, *memory.header)) {
    if (scan_team::lane() == 0) {
      memory.header->frame = {};
      memory.header->scan = jpeg_verdict::broken;
      batch.bad[image.number] = 1;
    }
    return;
  }
  const std::uint32_t count = shared.frame.mcus() * shared.frame.blocks();
  if (scan_team::lane() == 0) memory.header->frame = shared.frame;
  auto* const words = reinterpret_cast<uint4*>(memory.blocks);
  constexpr std::uint32_t block_words = jpeg_block_samples * sizeof(std::int16_t) / sizeof(uint4);
  for (std::uint32_t i = scan_team::lane(); i < count * block_words; i += scan_team::lanes)
    words[i] = {};
  team.sync();
  const jpeg_scan scan{image.file, image.bytes, shared.frame, shared.tables};
  const jpeg_scan_room room{reinterpret_cast<std::uint32_t*>(memory.pixels),
                            4 * image.extents.pixels()};
  jpeg_scan_segments segments{team, scan, {memory.blocks, count}, shared.segment_tables, room};
  end_scan(batch, image, *memory.header, segments.read());
}

/// A thread block, which is one team, decodes one of the other files.
__global__ void __launch_bounds__(scan_team::lanes, 4)
    readers_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ scan_memory shared;
  const jpeg_image& image = batch.images[blockIdx.x];
  const image_memory memory{batch, image};
  if (memory.header->scan != jpeg_verdict::unsure) return;
  scan_team team{shared.team};
  team.once([&] {
    shared.frame = memory.header->frame;
    return true;
  });
  const jpeg_frame& frame = shared.frame;
  const jpeg_coefficient_writer writer{memory.blocks, frame.mcus() * frame.blocks()};
  const bool is_whole =
      is_jpeg_scan_whole(team, {image.file, image.bytes, frame, shared.tables}, writer);
  end_scan(batch, image, *memory.header, is_whole ? jpeg_verdict::whole : jpeg_verdict::broken);
}

}  // namespace

void load_scan_kernels() {
  load_kernels(segments_kernel, readers_kernel);
}

void issue_scans(const jpeg_batch& batch, cudaStream_t stream) {
  const std::uint32_t teams = scan_teams(max_shared_bytes());
  launch(segments_kernel,
         launch_shape{divide_up(batch.count, teams), teams * scan_team::lanes,
                      teams * sizeof(segments_memory)},
         stream, jpeg_batch{batch});
  launch(readers_kernel, batch.count, scan_team::lanes, stream, jpeg_batch{batch});
}

}  // namespace feedline::detail
