/// How many images of a folder of JPEGs become batches a second: read, decoded, resized to 224 x
/// 224, by a number of readers, through a loader on the host device whose consumer does nothing.
///
///     feedline_bench_images --make FOLDER           # a folder of JPEGs like photographs, and no
///     more feedline_bench_images --folder FOLDER         # measures; without --folder in one of
///     its own python3 tests/bench/images_peer.py FOLDER     # DataLoader and torchvision on the
///     same folder
///
/// Method: images of 500 x 375 pixels (--make-width, --make-height), quality 90 (--quality), as
/// many different ones as --different says, each in several copies; one epoch to warm up, then
/// epochs back to back for the time asked; the median of the runs. Scaling is beside one reader
/// times their number; a core's rate is images by CPU seconds of all threads. The bound is the
/// decoder alone, on as many threads as there are readers, each out of memory and into memory of
/// its own: cores that slow each other down show there.

#include <feedline/device/host_device.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/delivered.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "io/file_system.hpp"
#include "support/command_line.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::string make;
  std::string folder;
  std::uint32_t images = 2048;
  std::uint32_t different = 128;
  std::uint32_t height = 375;
  std::uint32_t width = 500;
  int quality = 90;
  bool png = false;
  bool coco = false;
  std::vector<int> readers{1, 2, 4, 8, 14};
  std::uint64_t batch_size = 64;
  image_options image = {};
};

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error{"cannot write " + path.string()};
}

/// Heights and widths of photographs, about as frequent as in COCO's set of 2017.
constexpr std::array<std::array<std::uint32_t, 2>, 20> coco_shapes{{
    {480, 640}, {427, 640}, {480, 640}, {640, 480}, {426, 640}, {480, 640}, {640, 427},
    {480, 640}, {427, 640}, {375, 500}, {480, 640}, {640, 480}, {427, 640}, {360, 640},
    {480, 640}, {640, 480}, {612, 612}, {425, 640}, {480, 640}, {500, 333},
}};

std::vector<std::byte> made_image(std::uint32_t number, const options& options) {
  if (options.png) return test::png_bytes(test::paint(256, 256, 3, number));
  const auto [height, width] = options.coco ? coco_shapes[number % coco_shapes.size()]
                                            : std::array{options.height, options.width};
  return test::jpeg_bytes(test::paint(height, width, 3, number), {.quality = options.quality});
}

/// Ten classes, in which each image is in turn.
void make_folder(const std::filesystem::path& root, const options& options) {
  constexpr std::uint32_t classes = 10;
  for (std::uint32_t i = 0; i < classes; ++i)
    std::filesystem::create_directories(root / ("class" + std::to_string(i)));
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < std::min(options.different, options.images); ++i) {
    const auto file = made_image(i, options);
    bytes += file.size();
    for (std::uint32_t copy = i; copy < options.images; copy += options.different)
      write_file(root / ("class" + std::to_string(copy % classes)) /
                     (std::to_string(copy) + (options.png ? ".png" : ".jpg")),
                 file);
  }
  std::printf("made:      %u images in %s, %.0f KB each on average\n", options.images, root.c_str(),
              static_cast<double>(bytes) / std::min(options.different, options.images) / 1e3);
}

delivered run_epochs(loader& loader, std::uint64_t& epoch, std::uint64_t& images, double seconds) {
  const meter meter;
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  images = 0;
  do {
    for (const batch& batch : loader.epoch(epoch++)) {
      ++batches;
      images += batch.size();
      bytes += batch["image"].bytes().size();
    }
  } while (meter.seconds() < seconds);
  return meter.stop(batches, bytes);
}

/// The bytes of images of a folder, no more of them than --different: the rest are copies.
std::vector<std::vector<std::byte>> files_of(const std::filesystem::path& root,
                                             const options& options) {
  std::vector<std::vector<std::byte>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
    if (files.size() == options.different) break;
    if (!entry.is_regular_file()) continue;
    std::vector<std::byte> memory;
    (void)detail::local_files().read_whole(entry.path().string(), [&](std::size_t bytes) {
      memory.resize(bytes);
      return std::span{memory};
    });
    files.push_back(std::move(memory));
  }
  return files;
}

/// Images a second of threads that do nothing but decode; --different of them.
double decoding_alone(const std::vector<std::vector<std::byte>>& files, int threads,
                      const options& options) {
  const decoder_ptr decoder = make_image_decoder(options.image);
  const field image = decoder->describe({});
  std::latch ready{threads};
  std::atomic<std::uint64_t> images{0};
  std::vector<std::thread> workers;
  std::atomic<double> seconds{0};
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      std::vector<std::byte> out(sample_bytes(image));
      ready.arrive_and_wait();
      const auto start = clock_type::now();
      std::uint64_t count = 0;
      for (; seconds_since(start) < options.seconds; ++count)
        decoder->decode(files[(static_cast<std::size_t>(i) * 7 + count) % files.size()], image, out,
                        {});
      images += count;
      seconds = seconds_since(start);
    });
  for (auto& worker : workers) worker.join();
  return static_cast<double>(images) / seconds;
}

/// @param bound Result of `decoding_alone`. @return Images a second.
double run_cell(const dataset_ptr& data, int readers, double alone, double bound,
                const options& options, results& found) {
  loader loader{data,
                shuffle{.seed = 1},
                make_host_device(),
                {.batch_size = options.batch_size, .epochs = UINT64_MAX, .readers = readers}};
  std::uint64_t epoch = 0;
  std::uint64_t images = 0;
  (void)run_epochs(loader, epoch, images, 0);
  const double image_bytes = static_cast<double>(sample_bytes(data->fields().front()));
  const spread runs =
      repeat(options.runs, [&] { return run_epochs(loader, epoch, images, options.seconds); });
  const auto images_of = [&](const delivered& run) {
    return static_cast<double>(run.bytes) / image_bytes;
  };
  const delivered& median = runs.median();
  const double rate = images_of(median) / median.seconds;
  const double scaling = alone == 0 ? 1 : rate / (readers * alone);
  std::printf("%7d %12.0f [%7.0f, %7.0f] %14.0f %9.2f %14.0f %10.1f %%\n", readers, rate,
              images_of(runs.least()) / runs.least().seconds,
              images_of(runs.most()) / runs.most().seconds, images_of(median) / median.cpu_seconds,
              scaling, bound, 100 * rate / bound);
  std::fflush(stdout);
  found.add({{"readers", readers},
             {"images_per_second", rate},
             {"images_per_cpu_second", images_of(median) / median.cpu_seconds},
             {"scaling", scaling},
             {"decoding_alone_images_per_second", bound}},
            runs);
  return rate;
}

void run(const options& options) {
  if (!options.make.empty()) return make_folder(options.make, options);
  std::optional<test::temporary_directory> own;
  if (options.folder.empty()) {
    own.emplace();
    make_folder(own->path(), options);
  }
  const std::filesystem::path root = own ? own->path() : std::filesystem::path{options.folder};
  const auto folder = open_image_folder(root, {.image = options.image});
  std::printf("folder:    %llu images, %zu classes, to %u x %u, batches of %llu\n\n",
              static_cast<unsigned long long>(folder.dataset->size()), folder.classes.size(),
              options.image.height, options.image.width,
              static_cast<unsigned long long>(options.batch_size));
  std::printf("%7s %12s %18s %14s %9s %14s %12s\n", "readers", "images/s", "", "a CPU second",
              "scaling", "decoding alone", "of that");
  const auto files = files_of(root, options);
  results found{"images"};
  double alone = 0;
  for (const int readers : options.readers) {
    const double bound = decoding_alone(files, readers, options);
    const double rate = run_cell(folder.dataset, readers, alone, bound, options, found);
    if (readers == 1) alone = rate;
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Images a second out of a folder of JPEGs"};
  options options;
  options.seconds = 3;
  options.runs = 3;
  add_common_options(line, options);
  line.add_option("--make", options.make, "make a folder of images there, and measure nothing");
  line.add_flag("--png", options.png, "images that are made are PNGs of 256 x 256");
  line.add_flag("--coco", options.coco, "images that are made have shapes like those of COCO");
  line.add_option("--folder", options.folder, "of images by class; default: one is made");
  line.add_option("--images", options.images, "in a folder that is made").positive();
  line.add_option("--quality", options.quality, "of JPEGs that are made, 1 to 100");
  line.add_option("--make-height", options.height, "of JPEGs that are made").positive();
  line.add_option("--make-width", options.width, "of JPEGs that are made").positive();
  line.add_option("--different", options.different, "of them").positive();
  line.add_option("--readers", options.readers, "numbers of reader threads; begin with 1");
  line.add_option("--batch-size", options.batch_size, "samples");
  line.add_option("--height", options.image.height, "pixels");
  line.add_option("--width", options.image.width, "pixels");
  line.add_option("--shorter-side", options.image.shorter_side,
                  "0: stretch; else resize to this and cut the middle out");
  return run_program(
      line, argc, argv, [] { return true; }, [&] { run(options); });
}
