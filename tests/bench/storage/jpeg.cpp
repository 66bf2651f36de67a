/// Decoding of the JPEGs or PNGs of a folder, or of tar shards, by readers or by the GPU.
///
///     feedline_bench_images --make FOLDER
///     feedline_bench_jpeg --folder FOLDER --readers 1,2,4,8
///     tar -cf SHARD -C FOLDER .
///     feedline_bench_jpeg --shards SHARD --readers 1,2,4,8
///     feedline_bench_jpeg --folder FOLDER --form folder,tfrecord,mds,parquet --decodes device
///     feedline_bench_jpeg --folder FOLDER --window original
///     feedline_bench_jpeg --folder FOLDER --form folder,masks,boxes --window original
///     feedline_bench_images --make PNGS --png      # 256 x 256
///     feedline_bench_jpeg --folder PNGS --window original --readers 1,2,4,8
///
/// Method: images become 256 x 256 bytes; the GPU draws a window of each, makes it 224 x 224, flips
/// half of them, and gives normalized f16. With `--window original` the window is cut out of each
/// image as it is stored instead, as torchvision's RandomResizedCrop(224) does; with `--window
/// middle` images become 224 x 224 as by Resize(232) and CenterCrop(224), and are not flipped.
/// `--recipe` adds TrivialAugmentWide and RandomErasing(0.1), as torchvision's recipe does. With
/// `--grey` images have one channel.
/// Batches are shuffled, and taken in stream placement by a consumer that does nothing; files are
/// in the page cache after the first epoch, which is not counted. Cores are those that all
/// threads keep busy. Content is not checked here: tests do that. `--form` stores the folder's
/// images in other forms first; "masks" and "boxes" are the folder with a mask for each image, cut
/// and flipped like it, or seven boxes, which readers move. "beside" is the rate over that of the
/// first form with as many readers.

#include <feedline/cuda/device.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/storage/decoded_loads.hpp"
#include "bench/storage/image_forms.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "support/command_line.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : decoding_options {
  options() { batch_size = 256; }

  std::vector<std::string> shards;
  std::vector<std::string> forms{"folder"};
  std::string window = "resized";
  bool recipe = false;
  bool grey = false;
  bool allow_damaged = false;
};

double flip_of(const options& options) {
  return options.window == "middle" ? 0 : 0.5;
}

loader_options loading(const options& options, const std::string& form, const std::string& decoder,
                       int readers) {
  loader_options made = decoding_loads(options, decoder, readers);
  made.transforms[0].flip = flip_of(options);
  if (options.window == "resized")
    made.transforms[0].resized_crop = random_resized_crop{.height = 224, .width = 224};
  if (options.grey) {
    made.transforms[0].mean = {0.45};
    made.transforms[0].stddev = {0.23};
  }
  if (form == "masks")
    made.transforms.push_back(
        {.field = "mask", .layout = image_layout::hwc, .flip = flip_of(options)});
  if (options.recipe) {
    made.transforms[0].trivial_augment_wide = trivial_augment_wide{};
    made.transforms[0].erasing = random_erasing{.probability = 0.1};
  }
  return made;
}

/// Images, how they are stored, and who decodes them.
struct measured_case {
  std::string form;
  dataset_ptr images;
  std::string decoder;  ///< "cpu" or "device"
  int readers;
};

/// @return Images a second.
double run_loader(const measured_case& one, const options& options, const gpu_stream& stream,
                  double beside, results& found) {
  loader loader{one.images, shuffle{.seed = 1}, make_cuda_device(0),
                loading(options, one.form, one.decoder, one.readers)};
  const decoding_rates rates = measure_decoding(loader, one.decoder, options, stream);
  std::printf("%-8s %-7s %8d %12.0f [%6.0f, %6.0f] %7.2f %10.2f %9.2f\n", one.form.c_str(),
              one.decoder.c_str(), one.readers, rates.median, rates.least, rates.most,
              beside == 0 ? 1 : rates.median / beside, rates.runs.median().busy_cores(),
              static_cast<double>(loader.plan().device_bytes) / 1e6);
  std::fflush(stdout);
  found.add({{"form", one.form},
             {"decodes", one.decoder},
             {"readers", one.readers},
             {"images_per_second", rates.median}},
            rates.runs);
  return rates.median;
}

image_options image_of(const options& options) {
  image_options image{
      .height = 256, .width = 256, .shorter_side = 256, .allow_damaged = options.allow_damaged};
  if (options.grey) image.channels = 1;
  if (options.window != "resized") image.height = image.width = 224;
  if (options.window == "middle") image.shorter_side = 232;
  if (options.window == "original") {
    image.shorter_side = 0;
    image.resized_crop = crop_ranges{};
  }
  return image;
}

dataset_ptr open_shards(const options& options) {
  return open_tar(options.shards,
                  {{"image", {"jpg", "jpeg", "png"}, make_image_decoder(image_of(options))}});
}

void run(const options& options) {
  results found{"jpeg", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    images shuffled, batches of %ju, stream placement, empty consumer;\n           "
      "windows: %s%s; scans %s checked for damage; medians of %d runs of %.1f s [least, most]\n\n",
      std::uintmax_t{options.batch_size}, options.window.c_str(),
      options.recipe ? ", TrivialAugmentWide, erasing"
      : options.grey ? ", grey"
                     : "",
      options.allow_damaged ? "are not" : "are", options.runs, options.seconds);
  std::printf("%-8s %-7s %8s %12s %16s %7s %10s %9s\n", "form", "decodes", "readers", "images/s",
              "", "beside", "busy cores", "GPU MB");
  const gpu_stream stream;
  std::map<std::pair<std::string, int>, double> first;  // rates of the first form
  const auto run_all = [&](const std::string& form, const dataset_ptr& images) {
    for (const std::string& decoder : options.decodes)
      for (const int readers : options.readers) {
        double& beside = first[{decoder, readers}];
        const double rate =
            run_loader({form, images, decoder, readers}, options, stream, beside, found);
        if (beside == 0) beside = rate;
      }
  };
  if (!options.shards.empty()) {
    run_all("tar", open_shards(options));
  } else {
    for (const std::string& form : options.forms) {
      const stored_images stored{form, options.folder};
      run_all(form, stored.open(image_of(options), flip_of(options)));
    }
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Who decodes JPEGs and PNGs: readers, or the GPU"};
  options options;
  add_run_options(line, options);
  line.add_option("--folder", options.folder, "images in a folder for each class");
  line.add_option("--shards", options.shards, "tar shards with images");
  line.require_one("source", {"--folder", "--shards"});
  line.add_option("--form", options.forms, "how the folder's images are stored")
      .one_of(image_forms());
  add_decoding_options(line, options);
  line.add_option("--window", options.window, "where windows are cut: resized, original or middle")
      .one_of({"resized", "original", "middle"});
  line.add_flag("--recipe", options.recipe, "TrivialAugmentWide and erasing, too");
  line.add_flag("--grey", options.grey, "one channel");
  line.add_flag("--allow-damaged", options.allow_damaged, "scans are not checked for damage");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
