#include <feedline/formats/zarr.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/arrays/cases.hpp"
#include "bench/arrays/noise.hpp"
#include "bench/arrays/zarr_writer.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::bench {
namespace {

constexpr std::uint64_t row_side = 64;
constexpr std::uint64_t row_values = row_side * row_side;
constexpr std::uint64_t chunk_rows = 16;
constexpr std::size_t chunk_bytes = chunk_rows * row_values * sizeof(float);
constexpr std::uint64_t drawn_chunks = 1024;
constexpr std::uint64_t shard_chunks = 64;
constexpr std::uint64_t window_chunks = 2048;  ///< chunks

std::vector<std::vector<std::byte>> encode_rows(const zarr_encoding& as) {
  std::vector<std::vector<std::byte>> encoded(drawn_chunks);
  on_all_cores(encoded.size(), [&](std::size_t at) {
    std::vector<float> values(chunk_rows * row_values);
    draw_noise(1, {at * chunk_rows, 0, 0}, {chunk_rows, row_side, row_side}, values);
    pack_as_weather(values);
    encoded[at] = as.encode(std::as_bytes(std::span{values}));
  });
  return encoded;
}

}  // namespace

void measure_rows(const array_run& run) {
  for (const zarr_encoding& as : zarr_encodings(sizeof(float))) {
    const auto& wanted = run.options.encodings;
    if (!wanted.empty() && std::ranges::find(wanted, as.name) == wanted.end()) continue;
    const auto encoded = encode_rows(as);
    measure_decoder(run, "rows_" + as.name, as, encoded, chunk_bytes);
    for (const std::uint64_t in_shard : {std::uint64_t{0}, shard_chunks}) {
      const std::uint64_t chunks = (run.options.mebibytes << 20U) / chunk_bytes;
      const std::string name = "rows_" + as.name + (in_shard == 0 ? "" : "_shards");
      const auto store = run.options.folder / (name + ".zarr");
      const zarr_bytes written = write_zarr(store,
                                            {.path = "",
                                             .type = "float32",
                                             .shape = {chunks * chunk_rows, row_values},
                                             .chunk = {chunk_rows, row_values},
                                             .dimensions = {"row", "point"},
                                             .chunks_per_shard = in_shard},
                                            as, encoded);
      measure_feed(run, {.data = name,
                         .samples = open_zarr(
                             store.string(), {{"", "row"}},
                             {.max_host_cache_bytes = 2 * window_chunks * (chunk_bytes + 512),
                              .max_resident_bytes = 0}),
                         .order = shuffle{.seed = 1, .within = feedline::chunks(window_chunks)},
                         .loading = {.batch_size = 256},
                         .ratio = written.ratio(),
                         .chunks = chunks});
      drop_store(run.options, store);
    }
  }
}

}  // namespace feedline::bench
