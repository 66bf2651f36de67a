/// Arrays as scientists store them, as Zarr 3 has them: rows, windows, patches, sparse rows.
///
///     feedline_bench_arrays                              # all cases
///     feedline_bench_arrays --case rows --encoding zstd --decodes device --readers 4
///     feedline_bench_arrays --folder /tmp/arrays --keep  # leaves the stores there, for the peers:
///     python3 tests/bench/arrays_peer.py /tmp/arrays
///
/// Method: fields of several wavelengths are drawn, packed as GRIB and scanners do (16 and 12
/// bits), and written as zarr-python writes them. Stores repeat some hundred MiB of chunks, and
/// stay in the page cache. Samples are taken by a consumer that does nothing, or whose steps last
/// 50 ms. Rates are of bytes in batches; the limit of a line is the rate of plain pinned copies, if
/// the device decodes times the ratio of decoded to stored bytes. Content is not checked here: the
/// tests do that.
///
/// rows     f32, 16 KiB, chunks of 256 KiB, shuffled within windows of 2048 chunks
/// weather  70 variables on 181 × 360 points, f32; samples are 2 times and the next one; chunks of
///          one time, and of 20; shuffled within windows of 2 × 20 times; batches of 2
/// patches  64³ at random positions of 512³ u16 in chunks of 64³, to normalized f16; each
///          volume has 512 patches, shuffled within windows of 2 volumes: each chunk is in one
///          window
/// regions  the same in one volume of 2048 × 1024 × 1024, whose regions of about 256³ are read in
///          windows of 8
/// cells    100,000 rows of 30,000 columns, 5 % of which are not 0; batches of 1,024 dense f32
///          rows, also with a label each
///
/// "decoded": how often each chunk is decoded in an epoch, of which each begins with nothing
/// decoded: short epochs are slower than long ones. "at once": chunks or rows that the device
/// decodes at once, at most.

#include <feedline/cuda/device.hpp>

#include "bench/arrays/cases.hpp"
#include "bench/support/bare/copies.hpp"
#include "bench/support/bare/decoder_alone.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace feedline::bench {
namespace {

constexpr double part_seconds = 1.5;

/// Takes batches of an epoch until so many seconds have passed, or it ends.
delivered consume_part(loader& loader, std::uint64_t epoch, const gpu_stream& stream,
                       std::uint64_t sample_bytes) {
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  const meter meter;
  for (batch& batch : loader.epoch(epoch, stream_ref{stream.get()})) {
    ++batches;
    samples += batch.size();
    if (meter.seconds() > part_seconds) break;
  }
  stream.sync();
  return meter.stop(batches, samples * sample_bytes);
}

std::uint64_t sample_bytes_of(const loader& loader) {
  std::uint64_t bytes = 0;
  for (const field& each : loader.plan().fields) bytes += sample_bytes(each);
  return bytes;
}

}  // namespace

void measure_feed(const array_run& run, const array_feed& feed) {
  const std::map<std::string, decode_on> known{{"cpu", decode_on::cpu},
                                               {"device", decode_on::device}};
  for (const std::string& decoder : run.options.decodes) {
    loader_options loading = feed.loading;
    loading.readers = run.options.readers;
    loading.decode_on = known.at(decoder);
    loading.epochs = UINT64_MAX;
    loading.placement = placement::stream;
    loader loader{feed.samples, feed.order, make_cuda_device(0), loading};
    const loader_plan& plan = loader.plan();
    if (plan.decode_on != loading.decode_on) {
      std::printf("%-24s %-7s readers decode: %s\n", feed.data.c_str(), decoder.c_str(),
                  plan.decode_note.c_str());
      continue;
    }
    const bool by_readers = loading.decode_on == decode_on::cpu;
    std::uint64_t epoch = 0;
    if (!by_readers) (void)consume(loader, epoch, run.stream, 0);
    const loader_statistics before = loader.statistics();
    const std::uint64_t first = epoch;
    const spread runs = repeat(by_readers ? 1 : run.options.runs, [&] {
      return by_readers ? consume_part(loader, epoch, run.stream, sample_bytes_of(loader))
                        : consume(loader, epoch, run.stream, run.options.seconds);
    });
    const loader_statistics seen = loader.statistics().since(before);
    const delivered& median = runs.median();
    const double rate = median.bytes_per_second();
    const double samples = rate / static_cast<double>(sample_bytes_of(loader));
    const double limit = run.bus * (by_readers ? 1 : feed.ratio);
    std::printf("%-24s %-7s %7d %10.1f %7.2f [%6.2f, %6.2f] %5.1f %% %6.2f %8.1f %8.1f",
                feed.data.c_str(), decoder.c_str(), loading.readers, samples, rate / 1e9,
                runs.least().bytes_per_second() / 1e9, runs.most().bytes_per_second() / 1e9,
                100 * rate / limit, median.busy_cores(),
                static_cast<double>(plan.staging_bytes) / 1e6,
                static_cast<double>(plan.device_bytes) / 1e6);
    if (!by_readers && feed.chunks != 0)
      std::printf(
          "  decoded %.3f, %llu at once",
          static_cast<double>(seen.decoded) / static_cast<double>(feed.chunks * (epoch - first)),
          static_cast<unsigned long long>(plan.decoded_at_once));
    std::printf("\n");
    std::fflush(stdout);
    run.found.add({{"data", feed.data},
                   {"decodes", decoder},
                   {"readers", loading.readers},
                   {"samples_per_second", samples},
                   {"ratio", feed.ratio}},
                  runs);
  }
}

void measure_decoder(const array_run& run, const std::string& data, const zarr_encoding& as,
                     std::span<const std::vector<std::byte>> stored, std::size_t chunk_bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const encoded_chunks chunks{
      .steps = {{as.filter}}, .stored = stored, .chunk_bytes = chunk_bytes, .rows = 1};
  if (std::ranges::find(run.options.decodes, "device") == run.options.decodes.end()) return;
  if (!make_cuda_device(0)->capabilities().decodes->refusal(chunks.steps).empty()) return;
  std::size_t before = 0;
  for (const std::size_t wanted : {std::size_t{512}, std::size_t{2048}}) {
    const std::size_t count = std::min(wanted, most_bytes / chunk_bytes);
    if (count == std::exchange(before, count)) continue;
    const double rate =
        decoder_alone{chunks, static_cast<std::uint32_t>(count)}.rate(run.options.seconds / 2);
    std::printf("%-24s alone, %zu chunks of %zu bytes at a time: %.2f GB/s\n", data.c_str(), count,
                chunk_bytes, rate / 1e9);
    run.found.add({{"data", data},
                   {"decodes", "alone"},
                   {"chunks", std::uint64_t{count}},
                   {"bytes_per_second", rate}});
  }
}

void drop_store(const array_options& options, const std::filesystem::path& store) {
  if (!options.keep) std::filesystem::remove_all(store);
}

}  // namespace feedline::bench

using namespace feedline;
using namespace feedline::bench;

namespace {

void run(const array_options& options) {
  results found{"arrays", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  constexpr std::size_t copied = std::size_t{64} << 20U;
  const double bus = pinned_copies{0, copied}.rate(options.seconds);
  std::printf(
      "method:    stream placement; where the device decodes, median of %d runs of %.1f s [least, "
      "most];\n           stores in the page cache of %s; plain copies: %.2f GB/s\n\n",
      options.runs, options.seconds, options.folder.c_str(), bus / 1e9);
  std::printf("%-24s %-7s %7s %10s %7s %16s %7s %6s %8s %8s\n", "data", "decodes", "readers",
              "samples/s", "GB/s", "", "limit", "cores", "pinned", "GPU MB");
  std::filesystem::create_directories(options.folder);
  const gpu_stream stream;
  const array_run all{options, stream, bus, found};
  for (const std::string& each : options.cases) {
    if (each == "rows") measure_rows(all);
    if (each == "weather") measure_weather(all);
    if (each == "patches") measure_patches(all);
    if (each == "cells") measure_cells(all);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Arrays of Zarr: rows, windows, patches, sparse rows"};
  array_options options;
  options.runs = 3;
  add_run_options(line, options);
  line.add_option("--case", options.cases, "some of rows, weather, patches, cells")
      .one_of({"rows", "weather", "patches", "cells"});
  line.add_option("--encoding", options.encodings, "some of zstd, blosc-lz4, gzip; none: all");
  line.add_option("--decodes", options.decodes, "who does: some of cpu, device")
      .one_of({"cpu", "device"});
  line.add_option("--readers", options.readers, "number of readers");
  line.add_option("--step-ms", options.step_ms, "length of a training step");
  line.add_option("--mebibytes", options.mebibytes, "decoded size of rows, of volumes and weather");
  line.add_option("--chunk-times", options.chunk_times, "times of weather's chunks");
  line.add_option("--cells", options.cells, "number of cells");
  line.add_option("--folder", options.folder, "where the stores are written");
  line.add_flag("--keep", options.keep, "leaves the stores there");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
