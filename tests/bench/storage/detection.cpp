/// Decoding of photographs of many shapes to padded batches, as detection models train: by readers
/// or by the GPU.
///
///     feedline_bench_images --make FOLDER --coco
///     feedline_bench_detection --folder FOLDER --readers 1,2,4,8
///     feedline_bench_detection --folder FOLDER --order shuffled
///     feedline_bench_detection --folder FOLDER --shorter-side 800 --largest 1333
///
/// Method: images keep their size, or their shorter side is resized; a batch is as large as its
/// largest image needs, in multiples of 32, and images of like shape come together
/// (`bucket_by_aspect_ratio`). Half of the images are mirrored; the GPU gives normalized f16 in
/// planes. Batches are taken in stream placement by a consumer that does nothing; files are in the
/// page cache after the first epoch, which is not counted. Padding is its share of all pixels, as
/// the loader's statistics count them. Cores are those that all threads keep busy. Content is not
/// checked here: tests do that.

#include <feedline/cuda/device.hpp>
#include <feedline/image/list.hpp>
#include <feedline/image/sizes.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/storage/decoded_loads.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "support/command_line.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : decoding_options {
  std::uint32_t shorter_side = 0;
  std::uint32_t largest = 640;
  std::string order = "bucketed";
};

/// Share of padding in percent.
double padding_of(const loader_statistics& told) {
  return told.pixels == 0
             ? 0
             : 100 * static_cast<double>(told.padded_pixels) / static_cast<double>(told.pixels);
}

void run_loader(const dataset_ptr& images, const sampler& order, const std::string& decoder,
                int readers, const options& options, const gpu_stream& stream, results& found) {
  loader_options loads = decoding_loads(options, decoder, readers);
  loads.transforms[0].to_layout = image_layout::chw;
  loader loader{images, order, make_cuda_device(0), loads};
  const decoding_rates rates = measure_decoding(loader, decoder, options, stream);
  const double padding = padding_of(loader.statistics());
  std::printf("%-7s %8d %12.0f [%6.0f, %6.0f] %10.2f %9.1f%% %9.2f\n", decoder.c_str(), readers,
              rates.median, rates.least, rates.most, rates.runs.median().busy_cores(), padding,
              static_cast<double>(loader.plan().device_bytes) / 1e6);
  std::fflush(stdout);
  found.add({{"decodes", decoder},
             {"readers", readers},
             {"images_per_second", rates.median},
             {"padding_percent", padding}},
            rates.runs);
}

void run(const options& options) {
  const auto opened = open_images({options.folder}, {.height = options.largest,
                                                     .width = options.largest,
                                                     .shorter_side = options.shorter_side,
                                                     .fit = image_fit::pad,
                                                     .fill = {124, 116, 104},
                                                     .flip = 0.5});
  const sampler order =
      options.order == "bucketed"
          ? sampler{bucket_by_aspect_ratio(stored_image_sizes(opened.paths), {.seed = 1})}
          : sampler{shuffle{.seed = 1}};
  results found{"detection", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    %ju images, %s, batches of %ju, stream placement, empty consumer;\n"
      "           shorter side %u (0: as stored), at most %u x %u, padded to multiples of 32;\n"
      "           medians of %d runs of %.1f s [least, most]\n\n",
      std::uintmax_t{opened.dataset->size()}, options.order.c_str(),
      std::uintmax_t{options.batch_size}, options.shorter_side, options.largest, options.largest,
      options.runs, options.seconds);
  std::printf("%-7s %8s %12s %16s %10s %10s %9s\n", "decodes", "readers", "images/s", "",
              "busy cores", "padding", "GPU MB");
  const gpu_stream stream;
  for (const std::string& decoder : options.decodes)
    for (const int readers : options.readers)
      run_loader(opened.dataset, order, decoder, readers, options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Who decodes images for detection: readers, or the GPU"};
  options options;
  add_run_options(line, options);
  line.add_option("--folder", options.folder, "images, in folders of any depth");
  line.require_one("source", {"--folder"});
  add_decoding_options(line, options);
  line.add_option("--shorter-side", options.shorter_side, "pixels; 0: images keep their size");
  line.add_option("--largest", options.largest, "pixels of the longest side");
  line.add_option("--order", options.order, "bucketed by aspect ratio, or shuffled")
      .one_of({"bucketed", "shuffled"});
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
