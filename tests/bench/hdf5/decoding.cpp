/// Decoding of compressed chunks of HDF5 files by readers, by the GPU, and by the decoder alone.
///
///     feedline_bench_decoding                            # all encodings
///     feedline_bench_decoding --encoding deflate --readers 1,4 --window 1024
///
///     feedline_bench_decoding --encoding zstd --alone 512,2048,4096
///
/// Method: rows of 28 × 28 values are drawn, of bytes (deflate makes about a fifth of them) or of
/// floats as half precision has them (with shuffled bytes, about half), and written to a file that
/// stays in the page cache. They are taken in shuffle{.within = chunks(window)} and stream
/// placement by a consumer that does nothing; rates are of decoded bytes. "alone": what the GPU
/// decodes of chunks that are in its memory, this many at a time, by one stream; the bus allows its
/// rate times the ratio. Content is not checked here: the tests do that.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/hdf5/encodings.hpp"
#include "bench/support/bare/decoder_alone.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

namespace fs = std::filesystem;

struct options : common_options {
  std::string encoding;
  std::vector<int> readers{1, 4};
  std::vector<std::uint32_t> alone{64, 512, 2048};
  std::uint64_t batch_size = 1024;
  std::uint64_t window = 2048;
  std::uint64_t chunks = 32'768;
  fs::path folder = fs::temp_directory_path();
  bool keep = false;
};

void run_loader(const encoding& as, const encoded_file& file, decode_on who, int readers,
                const options& options, const gpu_stream& stream, results& found) {
  // Size of cached chunks, with room for the counts of how often their samples were found.
  const std::size_t cache = 2 * options.window * (file.chunk_bytes() + 512);
  loader loader{open_hdf5(file.path, {{"image"}, {"label"}}, {.max_host_cache_bytes = cache}),
                shuffle{.seed = 1, .within = feedline::chunks(options.window)},
                make_cuda_device(0),
                {.batch_size = options.batch_size,
                 .epochs = UINT64_MAX,
                 .readers = readers,
                 .placement = placement::stream,
                 .decode_on = who}};
  const std::string by{to_string(loader.plan().decode_on)};
  if (loader.plan().decode_on != who) std::printf("%s\n", loader.plan().decode_note.c_str());
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);  // warm up
  const spread runs = repeat(who == decode_on::cpu ? 1 : options.runs,
                             [&] { return consume(loader, epoch, stream, options.seconds); });
  const delivered& median = runs.median();
  const double rows = median.batches_per_second() * static_cast<double>(options.batch_size);
  std::printf("%-16s %-7s %8d %12.0f %8.2f [%6.2f, %6.2f] %10.2f %9.2f\n", as.name.c_str(),
              by.c_str(), readers, rows, median.bytes_per_second() / 1e9,
              runs.least().bytes_per_second() / 1e9, runs.most().bytes_per_second() / 1e9,
              median.busy_cores(), static_cast<double>(loader.plan().device_bytes) / 1e6);
  std::fflush(stdout);
  found.add(
      {{"encoding", as.name}, {"decodes", by}, {"readers", readers}, {"rows_per_second", rows}},
      runs);
}

void run_encoding(const encoding& as, const options& options, const gpu_stream& stream,
                  results& found) {
  const encoded_file file = write_encoded(options.folder, as, options.chunks);
  std::printf("%-16s %zu rows a chunk of %zu bytes, ratio %.2f\n", as.name.c_str(),
              static_cast<std::size_t>(file.rows_per_chunk), file.chunk_bytes(), file.ratio());
  const std::string why = make_cuda_device(0)->capabilities().decodes->refusal(as.steps);
  if (why.empty()) {
    for (const std::uint32_t count : options.alone) {
      const double rate = decoder_alone{{.steps = as.steps,
                                         .stored = file.stored,
                                         .chunk_bytes = file.chunk_bytes(),
                                         .rows = static_cast<std::uint32_t>(file.rows_per_chunk)},
                                        count}
                              .rate(options.seconds);
      std::printf("%-16s alone, %u chunks at a time: %.2f GB/s\n", as.name.c_str(), count,
                  rate / 1e9);
      found.add({{"encoding", as.name},
                 {"decodes", "alone"},
                 {"chunks", count},
                 {"bytes_per_second", rate}});
    }
  }
  for (const int readers : options.readers)
    for (const decode_on who : {decode_on::cpu, decode_on::device})
      run_loader(as, file, who, readers, options, stream, found);
  if (!options.keep) fs::remove(file.path);
}

void run(const options& options) {
  results found{"decoding", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled within windows of %ju of %ju chunks, batches of %ju, stream placement,\n"
      "           empty consumer; where the GPU decodes, median of %d runs of %.1f s [least, "
      "most];\n           files in the page cache of %s\n\n",
      std::uintmax_t{options.window}, std::uintmax_t{options.chunks},
      std::uintmax_t{options.batch_size}, options.runs, options.seconds, options.folder.c_str());
  std::printf("%-16s %-7s %8s %12s %8s %16s %10s %9s\n", "encoding", "decodes", "readers", "rows/s",
              "GB/s", "", "busy cores", "GPU MB");
  const gpu_stream stream;
  for (const encoding& each : encodings_named(options.encoding))
    run_encoding(each, options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Who decodes compressed chunks: readers, or the GPU"};
  options options;
  add_run_options(line, options);
  line.add_option("--encoding", options.encoding, "one of them");
  line.add_option("--readers", options.readers, "numbers of readers to try");
  line.add_option("--alone", options.alone, "chunks at a time, for the decoder alone");
  line.add_option("--batch-size", options.batch_size, "samples");
  line.add_option("--window", options.window, "chunks");
  line.add_option("--chunks", options.chunks, "of a file");
  line.add_option("--folder", options.folder, "where the files are written");
  line.add_flag("--keep", options.keep, "leaves the files there");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
