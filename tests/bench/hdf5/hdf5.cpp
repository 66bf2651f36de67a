/// How fast shuffled rows of HDF5 files reach the GPU, beside the same rows in RAM, the library
/// called row by row, and the rate at which the machine can decode the chunks at all.
///
///     feedline_bench_hdf5                            # all shapes
///     feedline_bench_hdf5 --shape cifar256 --readers 1,2,4,8
///
/// Method: rows are drawn (deflate makes about a fifth of them), written contiguous, in chunks of
/// about 64 KiB, and in deflated ones, to files that stay in the page cache. Each is delivered by a
/// loader to a consumer that does nothing, as in feedline_bench_delivery. Deflated chunks are
/// visited in windows of 4 times the batch, but of so few that an epoch has --windows at least,
/// with room for two, so that each chunk is decoded once an epoch. The fewer chunks a window has,
/// the more readers wait for each other's last ones: compare --windows 16. The bound is the decoder
/// alone, on as many threads as there are readers, into memory of their own. Content is not checked
/// here: the tests do that. Row by row, an epoch is of 4096 samples at most.

#include <feedline/cuda/device.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/hdf5/hdf5_files.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

namespace fs = std::filesystem;

struct options : common_options {
  std::vector<int> readers{1, 2, 4, 8};
  int raw_readers = 8;
  std::uint64_t windows = 4;
  fs::path folder = fs::temp_directory_path();
  bool keep = false;
};

/// The last measured of each shape, to compare with.
struct cell {
  const shape& of;
  std::string source;
  int readers;
  double limit;  ///< rows a second; 0: none
  std::string limit_name;
};

double run_cell(const cell& cell, const dataset_ptr& data, const sampler& order,
                const options& options, const gpu_stream& stream, results& found) {
  loader loader{data,
                order,
                make_cuda_device(0),
                {.batch_size = cell.of.batch_size,
                 .epochs = UINT64_MAX,
                 .readers = cell.readers,
                 .placement = placement::stream}};
  std::uint64_t epoch = 0;
  const bool slow = cell.source == "row by row";
  if (!slow) (void)consume(loader, epoch, stream, 0);  // warm up
  const spread runs = repeat(slow ? 1 : options.runs,
                             [&] { return consume(loader, epoch, stream, options.seconds); });
  const double rows = runs.median().batches_per_second() * static_cast<double>(cell.of.batch_size);
  std::printf("%-12s %-12s %7d %12.0f %8.2f [%7.2f, %7.2f]", cell.of.name.c_str(),
              cell.source.c_str(), cell.readers, rows, runs.median().bytes_per_second() / 1e9,
              runs.least().bytes_per_second() / 1e9, runs.most().bytes_per_second() / 1e9);
  if (cell.limit > 0)
    std::printf(" %7.1f %% of %s", 100 * rows / cell.limit, cell.limit_name.c_str());
  std::printf("\n");
  std::fflush(stdout);
  found.add({{"shape", cell.of.name},
             {"source", cell.source},
             {"readers", cell.readers},
             {"rows_per_second", rows},
             {"limit_rows_per_second", cell.limit}},
            runs);
  return rows;
}

void run_deflated(const shape& shape, const deflated_file& file, const options& options,
                  const gpu_stream& stream, results& found) {
  const std::uint64_t window = std::min(4 * shape.batch_size, file.chunks / options.windows);
  std::printf("%-12s windows of %llu of %llu chunks, of %zu samples each\n", shape.name.c_str(),
              static_cast<unsigned long long>(window), static_cast<unsigned long long>(file.chunks),
              samples_per_chunk(shape));
  // Size of a cached chunk, with room for the counts of how often its samples were found.
  const std::size_t chunk_bytes = samples_per_chunk(shape) * (sample_bytes(shape) - 1) + 512;
  const auto data = open_hdf5(
      file.path, {{"image"}, {"label"}},
      {.max_host_cache_bytes = 2 * window * chunk_bytes, .max_resident_bytes = file.samples});
  double one = 0;
  double one_bound = 0;
  for (const int readers : options.readers) {
    const double bound = decode_bound(shape, file, readers, options.seconds);
    const double rate =
        run_cell({shape, "deflate", readers, bound, "decoding alone"}, data,
                 shuffle{.seed = 1, .within = feedline::chunks(window)}, options, stream, found);
    if (readers == options.readers.front()) {
      one = rate / readers;
      one_bound = bound / readers;
    }
    std::printf(
        "%-12s %-12s %7d %12.0f rows/s decoding alone; %.2f x linear, decoding alone %.2f\n",
        shape.name.c_str(), "", readers, bound, rate / one / readers, bound / one_bound / readers);
  }
}

void run_shape(const shape& shape, const options& options, const gpu_stream& stream,
               results& found) {
  const drawn_rows rows = draw_rows(shape);
  const auto in_ram =
      make_memory_dataset({borrow("image", std::span<const std::uint8_t>{rows.images}, shape.row),
                           borrow("label", std::span<const std::uint8_t>{rows.labels})});
  const int readers = options.raw_readers;
  const double ram =
      run_cell({shape, "RAM", readers, 0, {}}, in_ram, shuffle{.seed = 1}, options, stream, found);
  const auto row_by_row = [&](const fs::path& file) {
    run_cell({shape, "row by row", 1, ram, "RAM"},
             subset(open_row_by_row(file, shape), sample_index{0},
                    std::min<std::uint64_t>(shape.samples, 4096)),
             shuffle{.seed = 1}, options, stream, found);
    if (!options.keep) fs::remove(file);
  };
  for (const auto kind : {hdf5_kind::contiguous, hdf5_kind::chunks}) {
    const fs::path file = write_hdf5(options.folder, shape, rows, kind);
    run_cell({shape, to_string(kind), readers, ram, "RAM"},
             open_hdf5(file, {{"image"}, {"label"}}, {.max_resident_bytes = shape.samples}),
             shuffle{.seed = 1}, options, stream, found);
    row_by_row(file);
  }
  const deflated_file deflated = write_deflated(options.folder, shape, rows);
  run_deflated(shape, deflated, options, stream, found);
  row_by_row(deflated.path);
}

void run(const options& options) {
  results found{"hdf5", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows, stream placement, empty consumer, median of %d runs of %.1f s "
      "[least, "
      "most]; files in the page cache of %s\n\n",
      options.runs, options.seconds, options.folder.c_str());
  std::printf("%-12s %-12s %7s %12s %8s\n", "shape", "source", "readers", "rows/s", "GB/s");
  const gpu_stream stream;
  for (const shape& shape : main_shapes(options.shape)) run_shape(shape, options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Delivery of rows of HDF5 files to the GPU"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "numbers of readers to try with deflated chunks");
  line.add_option("--raw-readers", options.raw_readers, "readers of all others");
  line.add_option("--windows", options.windows, "in an epoch, at least, with deflated chunks")
      .positive();
  line.add_option("--folder", options.folder, "where the files are written");
  line.add_flag("--keep", options.keep, "leaves the files there");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
