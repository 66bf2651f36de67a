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
#include <span>

namespace feedline::detail {
namespace {

using scan_team = block_team<128>;

/// A team for a large file, whose scan takes one of the usual size as long as many small files.
using large_team = block_team<1024>;
constexpr std::uint32_t large_bytes = std::uint32_t{512} << 10U;

/// Shared memory of one team.
template <class Team>
struct scan_memory {
  typename Team::memory team;
  jpeg_scan_tables tables;
  jpeg_frame frame;
};
template <class Team>
struct segments_memory : scan_memory<Team> {
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
      std::min<std::size_t>(max_scan_teams, shared_bytes / sizeof(segments_memory<scan_team>)));
}
static_assert(scan_teams(std::size_t{48} << 10) > 0);
static_assert(scan_teams(std::size_t{164} << 10) == max_scan_teams);
static_assert(sizeof(segments_memory<large_team>) <= std::size_t{48} << 10);

/// Reads a file's header. One lane reads it byte by byte, from shared memory unless the header is
/// longer than usual.
/// @return Whether the file has this image, and there is memory for its blocks.
template <class Team>
__device__ bool read_header(Team& team, const jpeg_image& image, segments_memory<Team>& shared,
                            image_header& header) {
  constexpr std::uint32_t usual_bytes = 2048;
  static_assert(usual_bytes <= sizeof shared.segment_tables);
  auto* const words = reinterpret_cast<std::uint32_t*>(shared.segment_tables.codes);
  const std::uint32_t count = min(image.bytes, usual_bytes) / 4;
  for (std::uint32_t i = Team::lane(); i < count; i += Team::lanes)
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

template <class Team>
__device__ void end_scan(const jpeg_batch& batch, const jpeg_image& image, image_header& header,
                         jpeg_verdict verdict) {
  if (Team::lane() != 0) return;
  header.scan = verdict;
  if (verdict == jpeg_verdict::broken && !batch.allow_damaged) batch.bad[image.number] = 1;
}

/// A team decodes a file of its size, if it is one of those that lanes decode at once.
template <class Team>
__global__ void __launch_bounds__(max_scan_teams* scan_team::lanes, 1)
    segments_kernel(const __grid_constant__ jpeg_batch batch) {
  extern __shared__ std::uint64_t shared_by_teams[];
  const std::uint32_t number = blockIdx.x * (blockDim.x / Team::lanes) + Team::number();
  if (number >= batch.count) return;
  auto& shared = reinterpret_cast<segments_memory<Team>*>(shared_by_teams)[Team::number()];
  const jpeg_image& image = batch.images[number];
  if ((image.bytes >= large_bytes) != (Team::lanes == large_team::lanes)) return;
  const image_memory memory{batch, image};
  Team team{shared.team};
  if (!read_header(team, image, shared, *memory.header)) {
    if (Team::lane() == 0) {
      memory.header->frame = {};
      memory.header->scan = jpeg_verdict::broken;
      batch.bad[image.number] = 1;
    }
    return;
  }
  const std::uint32_t count = shared.frame.mcus() * shared.frame.blocks();
  if (Team::lane() == 0) memory.header->frame = shared.frame;
  auto* const words = reinterpret_cast<uint4*>(memory.blocks);
  constexpr std::uint32_t block_words = jpeg_block_samples * sizeof(std::int16_t) / sizeof(uint4);
  for (std::uint32_t i = Team::lane(); i < count * block_words; i += Team::lanes) words[i] = {};
  team.sync();
  const jpeg_scan scan{image.file, image.bytes, shared.frame, shared.tables};
  const jpeg_scan_room room{reinterpret_cast<std::uint32_t*>(memory.pixels),
                            4 * image.extents.pixels()};
  jpeg_scan_segments segments{team, scan, {memory.blocks, count}, shared.segment_tables, room};
  end_scan<Team>(batch, image, *memory.header, segments.read());
}

/// A thread block, which is one team, decodes one of the other files.
__global__ void __launch_bounds__(scan_team::lanes, 4)
    readers_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ scan_memory<scan_team> shared;
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
  end_scan<scan_team>(batch, image, *memory.header,
                      is_whole ? jpeg_verdict::whole : jpeg_verdict::broken);
}

}  // namespace

void load_scan_kernels() {
  load_kernels(segments_kernel<scan_team>, segments_kernel<large_team>, readers_kernel);
}

void issue_scans(const jpeg_batch& batch, std::span<const jpeg_image> images, cudaStream_t stream) {
  const auto is_large = [](const jpeg_image& image) { return image.bytes >= large_bytes; };
  const std::uint32_t teams = scan_teams(max_shared_bytes());
  launch(segments_kernel<scan_team>,
         launch_shape{divide_up(batch.count, teams), teams * scan_team::lanes,
                      teams * sizeof(segments_memory<scan_team>)},
         stream, jpeg_batch{batch});
  if (std::ranges::any_of(images, is_large))
    launch(segments_kernel<large_team>,
           launch_shape{batch.count, large_team::lanes, sizeof(segments_memory<large_team>)},
           stream, jpeg_batch{batch});
  launch(readers_kernel, batch.count, scan_team::lanes, stream, jpeg_batch{batch});
}

}  // namespace feedline::detail
