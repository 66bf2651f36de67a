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

namespace {

/// Random patches along the last three axes. @param region 0: none.
std::vector<window> patch_windows(std::uint64_t region) {
  std::vector<window> windows;
  for (const char* const axis : {"z", "y", "x"})
    windows.push_back(
        {.axis = axis, .size = edge, .position = window_position::random, .region = region});
  return windows;
}

loader_options patch_loading() {
  return {.batch_size = 32,
          .transforms = {{.field = "scan",
                          .to = element_type::f16,
                          .scale = 1 / 4095.0,
                          .mean = {0.37},
                          .stddev = {0.2}}}};
}

/// Volumes of 512³, some of which are mixed.
void measure_volumes(const array_run& run, const zarr_encoding& as,
                     std::span<const std::vector<std::byte>> encoded) {
  const std::uint64_t volumes =
      std::max(2 * window_volumes, (run.options.mebibytes << 20U) / volume_bytes);
  const auto store = run.options.folder / "patches.zarr";
  const zarr_bytes written = write_zarr(store,
                                        {.path = "",
                                         .type = "uint16",
                                         .shape = {volumes, volume_side, volume_side, volume_side},
                                         .chunk = {1, edge, edge, edge},
                                         .dimensions = {"scan", "z", "y", "x"}},
                                        as, encoded);
  const array_ptr scans = open_zarr_array(
      store.string(), "",
      {.max_host_cache_bytes = 2 * window_volumes * (volume_bytes + volume_chunks * 512)});
  std::vector<window> windows = patch_windows(0);
  windows.insert(windows.begin(), {.axis = "scan", .keep_axis = false});
  measure_feed(run,
               {.data = "patches_" + as.name,
                .samples = make_windows(windows, {{"scan", {scans}}}, {.draws = patches_of_volume}),
                .order = shuffle{.seed = 1, .within = feedline::chunks(window_volumes)},
                .loading = patch_loading(),
                .ratio = written.ratio(),
                .chunks = volumes * volume_chunks});
  drop_store(run.options, store);
}

/// One volume of 2048 × 1024 × 1024, some of whose regions are mixed.
void measure_regions(const array_run& run, const zarr_encoding& as,
                     std::span<const std::vector<std::byte>> encoded) {
  constexpr std::uint64_t large = 2 * volume_side;
  constexpr std::uint64_t region = 256;
  constexpr std::uint64_t regions = 8 * 4 * 4;     // along axes of 1985, 961, 961 positions
  constexpr std::uint64_t patches_of_region = 64;  // the bytes of a region
  constexpr std::uint64_t window_regions = 8;
  constexpr std::uint64_t region_chunks = 6 * 6 * 6;
  const auto store = run.options.folder / "volume.zarr";
  const zarr_bytes written = write_zarr(store,
                                        {.path = "",
                                         .type = "uint16",
                                         .shape = {2 * large, large, large},
                                         .chunk = {edge, edge, edge},
                                         .dimensions = {"z", "y", "x"}},
                                        as, encoded);
  const array_ptr volume =
      open_zarr_array(store.string(), "",
                      {.max_host_cache_bytes = 2 * window_regions * region_chunks *
                                               (edge * edge * edge * sizeof(std::uint16_t) + 512)});
  measure_feed(run, {.data = "regions_" + as.name,
                     .samples = make_windows(patch_windows(region), {{"scan", {volume}}},
                                             {.draws = regions * patches_of_region}),
                     .order = shuffle{.seed = 1, .within = feedline::chunks(window_regions)},
                     .loading = patch_loading(),
                     .ratio = written.ratio(),
                     .chunks = 16 * volume_chunks});
  drop_store(run.options, store);
}

}  // namespace

void measure_patches(const array_run& run) {
  const zarr_encoding as = zarr_encodings(sizeof(std::uint16_t)).front();
  const auto encoded = encode_volume(as);
  measure_decoder(run, "patches_" + as.name, as, encoded,
                  edge * edge * edge * sizeof(std::uint16_t));
  measure_volumes(run, as, encoded);
  measure_regions(run, as, encoded);
}

}  // namespace feedline::bench
