#include <feedline/arrays/windows.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/arrays/cases.hpp"
#include "bench/arrays/noise.hpp"
#include "bench/arrays/zarr_writer.hpp"

#include <algorithm>

namespace feedline::bench {
namespace {

constexpr std::uint64_t volume_side = 512;
constexpr std::uint64_t edge = 64;  ///< edge of chunks and patches
constexpr std::uint64_t chunk_grid = volume_side / edge;
constexpr std::uint64_t volume_chunks = chunk_grid * chunk_grid * chunk_grid;
constexpr std::size_t volume_bytes =
    volume_side * volume_side * volume_side * sizeof(std::uint16_t);
constexpr std::uint64_t patches_of_volume = 512;
constexpr std::uint64_t window_volumes = 2;  ///< volumes

std::vector<std::vector<std::byte>> encode_volume(const zarr_encoding& as) {
  std::vector<std::vector<std::byte>> encoded(volume_chunks);
  on_all_cores(encoded.size(), [&](std::size_t at) {
    std::vector<float> values(edge * edge * edge);
    std::vector<std::uint16_t> scan(values.size());
    draw_noise(3,
               {at / (chunk_grid * chunk_grid) * edge, at / chunk_grid % chunk_grid * edge,
                at % chunk_grid * edge},
               {edge, edge, edge}, values);
    pack_as_scan(at, values, scan);
    encoded[at] = as.encode(std::as_bytes(std::span{scan}));
  });
  return encoded;
}

}  // namespace

void measure_patches(const array_run& run) {
  const zarr_encoding as = zarr_encodings(sizeof(std::uint16_t)).front();
  const std::uint64_t volumes =
      std::max(2 * window_volumes, (run.options.mebibytes << 20U) / volume_bytes);
  const auto store = run.options.folder / "patches.zarr";
  const zarr_bytes written = write_zarr(store,
                                        {.path = "",
                                         .type = "uint16",
                                         .shape = {volumes, volume_side, volume_side, volume_side},
                                         .chunk = {1, edge, edge, edge},
                                         .dimensions = {"scan", "z", "y", "x"}},
                                        as, encode_volume(as));
  const array_ptr scans = open_zarr_array(
      store.string(), "",
      {.max_host_cache_bytes = 2 * window_volumes * (volume_bytes + volume_chunks * 512)});
  std::vector<feedline::window> windows{{.axis = "scan", .keep_axis = false}};
  for (const char* const axis : {"z", "y", "x"})
    windows.push_back({.axis = axis, .size = edge, .position = window_position::random});
  measure_feed(run,
               {.data = "patches_" + as.name,
                .samples = make_windows(windows, {{"scan", {scans}}}, {.draws = patches_of_volume}),
                .order = shuffle{.seed = 1, .within = feedline::chunks(window_volumes)},
                .loading = {.batch_size = 32,
                            .transforms = {{.field = "scan",
                                            .to = element_type::f16,
                                            .scale = 1 / 4095.0,
                                            .mean = {0.37},
                                            .stddev = {0.2}}}},
                .ratio = written.ratio(),
                .chunks = volumes * volume_chunks});
  drop_store(run.options, store);
}

}  // namespace feedline::bench
