#include <feedline/arrays/windows.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/statistics/statistics.hpp>

#include "bench/arrays/cases.hpp"
#include "bench/arrays/noise.hpp"
#include "bench/arrays/zarr_writer.hpp"
#include "bench/loading/stamped_steps.hpp"
#include "bench/support/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace feedline::bench {
namespace {

constexpr std::uint64_t variables = 70;
constexpr std::uint64_t height = 181;
constexpr std::uint64_t width = 360;
constexpr std::size_t time_bytes = variables * height * width * sizeof(float);
constexpr std::uint64_t drawn_times = 20;
constexpr std::uint64_t window_chunks_of_times = 2;
constexpr std::uint64_t batch_samples = 2;
constexpr std::size_t slots = 6;  ///< batches of so few samples keep all readers busy

std::string name_of(std::uint64_t variable) {
  return "v" + std::to_string(100 + variable).substr(1);
}

/// @return The store's ratio of decoded to stored bytes.
double write_weather(const array_run& run, const std::filesystem::path& store,
                     const zarr_encoding& as, std::uint64_t times, std::uint64_t chunk_times) {
  write_zarr_group(store);
  std::vector<std::vector<std::vector<std::byte>>> encoded(variables);
  for (auto& each : encoded) each.resize(drawn_times / chunk_times);
  on_all_cores(variables * (drawn_times / chunk_times), [&](std::size_t at) {
    const std::size_t variable = at % variables;
    const std::size_t chunk = at / variables;
    std::vector<float> values(chunk_times * height * width);
    draw_noise(100 + variable, {chunk * chunk_times, 0, 0}, {chunk_times, height, width}, values);
    pack_as_weather(values);
    encoded[variable][chunk] = as.encode(std::as_bytes(std::span{values}));
  });
  measure_decoder(run, store.stem().string(), as, encoded[0],
                  chunk_times * height * width * sizeof(float));
  zarr_bytes all;
  for (std::uint64_t variable = 0; variable < variables; ++variable) {
    const zarr_bytes one = write_zarr(store,
                                      {.path = name_of(variable),
                                       .type = "float32",
                                       .shape = {times, height, width},
                                       .chunk = {chunk_times, height, width},
                                       .dimensions = {"time", "latitude", "longitude"}},
                                      as, encoded[variable]);
    all.stored += one.stored;
    all.decoded += one.decoded;
  }
  return all.ratio();
}

/// Inputs at two times, and the target at the next one.
/// @param region Consecutive times that share chunks of single times; 0: the chunks are larger.
dataset_ptr open_weather(const std::filesystem::path& store, std::size_t cache,
                         std::uint64_t region) {
  std::vector<std::string> names;
  for (std::uint64_t variable = 0; variable < variables; ++variable)
    names.push_back(name_of(variable));
  const auto arrays = open_zarr_arrays(store.string(), names, {.max_host_cache_bytes = cache});
  const window_field input{.name = "input",
                           .arrays = arrays,
                           .windows = {{.axis = "time", .size = 2}},
                           .channel_axis = 1};
  const window_field target{.name = "target",
                            .arrays = arrays,
                            .windows = {{.axis = "time", .offset = 2}},
                            .channel_axis = 1};
  return make_windows({{.axis = "time", .region = region}}, {input, target});
}

/// Steps of one length, and the share of the loop's time that they wait for batches.
void measure_steps(const array_run& run, const array_feed& feed) {
  for (const std::string& decoder : run.options.decodes) {
    loader_options loading = feed.loading;
    loading.readers = run.options.readers;
    loading.decode_on = decoder == "cpu" ? decode_on::cpu : decode_on::device;
    loading.epochs = UINT64_MAX;
    loading.placement = placement::stream;
    loader loader{feed.samples, feed.order, make_cuda_device(0), loading};
    if (loader.plan().decode_on != loading.decode_on) continue;  // `measure_feed` has said why
    stamped_steps steps{run.stream};
    const auto cycles =
        static_cast<std::uint64_t>(1e3 * run.options.step_ms * cycles_per_microsecond());
    const auto warm = static_cast<std::uint64_t>(500 / run.options.step_ms) + 2;
    const auto counted = static_cast<std::uint64_t>(3000 / run.options.step_ms) + 2;
    std::uint64_t taken = 0;
    loader_statistics before;
    clock_type::time_point start;
    for (std::uint64_t epoch = 0; taken < warm + counted; ++epoch) {
      for (batch& batch : loader.epoch(epoch, stream_ref{run.stream.get()})) {
        (void)batch;
        if (taken == warm) {
          run.stream.sync();
          before = loader.statistics();
          steps.begin();
          start = clock_type::now();
        }
        if (taken < warm)
          launch_busy(run.stream.get(), cycles);
        else
          steps.issue(cycles);
        if (++taken == warm + counted) break;
      }
    }
    const auto times = steps.end();
    const double seconds = seconds_since(start);
    double gaps = 0;
    for (const double gap : times.gaps) gaps += 1e-6 * gap;
    const auto seen = loader.statistics().since(before);
    std::printf("%-24s %-7s %7d steps of %.1f ms wait %.2f %% of the time (told: %.2f %%)\n",
                feed.data.c_str(), decoder.c_str(), loading.readers, 1e-3 * times.mean_step,
                100 * gaps / seconds,
                100 * std::chrono::duration<double>(seen.exposed).count() / seconds);
    std::fflush(stdout);
    run.found.add({{"data", feed.data + ", steps"},
                   {"decodes", decoder},
                   {"readers", loading.readers},
                   {"waits", gaps / seconds}});
  }
}

}  // namespace

void measure_weather(const array_run& run) {
  const zarr_encoding as = zarr_encodings(sizeof(float)).front();
  const std::uint64_t times = std::max<std::uint64_t>(
      4 * drawn_times, (run.options.mebibytes << 20U) / time_bytes / drawn_times * drawn_times);
  for (const std::uint64_t chunk_times : run.options.chunk_times) {
    const auto store = run.options.folder / ("weather_" + std::to_string(chunk_times) + ".zarr");
    const double ratio = write_weather(run, store, as, times, chunk_times);
    const array_feed feed{
        .data = "weather_" + std::to_string(chunk_times) + "_" + as.name,
        .samples =
            open_weather(store, times * time_bytes * 3 / 5, chunk_times == 1 ? drawn_times : 0),
        .order = shuffle{.seed = 1, .within = feedline::chunks(window_chunks_of_times)},
        .loading = {.batch_size = batch_samples, .expert = {.staging_slots = slots}},
        .ratio = ratio,
        .chunks = variables * times / chunk_times};
    measure_feed(run, feed);
    measure_steps(run, feed);
    drop_store(run.options, store);
  }
}

}  // namespace feedline::bench
