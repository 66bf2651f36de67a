/// Cost of feeding for a training loop: steps of ResNet-18 and ResNet-50 in bf16, in batches of 256
/// images of 224x224x3 bytes, on one batch that lies on the GPU and on batches of a loader.
///
///     feedline_bench_training
///     feedline_bench_training --networks resnet50 --feeds stream --steps 10 --runs 2
///     feedline_bench_images --make FOLDER --images 8192
///     feedline_bench_training --folder FOLDER --networks resnet18 --readers 2
///
/// Method: each feed trains a network of its own; all begin with the same weights. Each warms up
/// first: cuDNN's search for algorithms, the allocators. Then the feeds take turns, round by round.
/// A turn begins with steps that are not measured: a few, and as many as a feed may have batches
/// ready, which it made during others' turns, as others do now. Then this many steps, by the
/// clock of the host, from a stream that is done to a stream that is done. Medians of the rounds;
/// the ratio is that to the fixed batch in the same round. Shuffled rows in RAM become normalized
/// bf16 on the GPU, and a tensor is a view of the batch. Each round is a line when it is done; the
/// results are rewritten when a network is done. training.py is the same loop under PyTorch's
/// DataLoader.
///
/// The GPU (feed jpeg) or the readers (jpeg-cpu) decode a folder's JPEGs to 256 x 256 pixels; the
/// GPU draws a window of each, makes it 224 x 224, and flips half of them. Files are in the page
/// cache after the first epoch: give enough warm-up steps for one. Busy cores are those of all the
/// program's threads, those that issue the network's kernels among them.

#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/transform/field_transform.hpp>

#include "bench/libtorch/feeds.hpp"
#include "bench/libtorch/trainer.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

using namespace feedline::bench;

namespace {

struct options {
  std::vector<std::string> networks{"resnet18", "resnet50"};
  std::vector<std::string> feeds;
  std::string folder;
  bool allow_damaged = false;
  bool high_priority = false;
  int readers = 8;
  double flip = 0;
  int steps = 20;
  int warm_up = 3;
  int runs = 5;
  double seconds = 60;
  std::string json;
};

struct named_feed {
  std::string name;
  std::unique_ptr<feed> from;
};

/// A feed, the network that it trains, and what was measured.
struct contestant {
  const named_feed& fed;
  trainer network;
  std::vector<double> seconds = {};  ///< a step, in each round
  std::vector<double> cores = {};    ///< number of busy cores
};

/// Steps and how long they took together.
delivered run_steps(int steps, contestant& trained, const c10::cuda::CUDAStream& stream) {
  const meter took;
  for (int i = 0; i < steps; ++i) trained.fed.from->step(trained.network);
  stream.synchronize();
  return took.stop(static_cast<std::uint64_t>(steps), 0);
}

void print_step(const std::string& network, const contestant& trained, const std::string& round,
                double seconds) {
  std::printf("%-10s %-30s %7s %10.2f", network.c_str(), trained.fed.name.c_str(), round.c_str(),
              1e3 * seconds);
}

void end_line() {
  std::printf("\n");
  std::fflush(stdout);
}

double images_per_second(const shape& shape, double seconds) {
  return static_cast<double>(shape.batch_size) / seconds;
}

/// The turns of a round, of which the first one is the fixed batch's.
void run_round(const std::string& network, const shape& shape, std::vector<contestant>& all,
               const options& options, const c10::cuda::CUDAStream& stream) {
  int ahead = 0;
  for (const contestant& each : all) ahead = std::max(ahead, each.fed.from->ahead());
  for (contestant& each : all) {
    (void)run_steps(options.warm_up + ahead, each, stream);
    const delivered turn = run_steps(options.steps, each, stream);
    const double seconds = turn.seconds / options.steps;
    each.seconds.push_back(seconds);
    each.cores.push_back(turn.busy_cores());
    print_step(network, each, std::to_string(each.seconds.size()), seconds);
    std::printf(" %10.0f %6.2f %8.3f", images_per_second(shape, seconds), each.cores.back(),
                seconds / all.front().seconds.back());
    end_line();
  }
}

void report(const std::string& network, const shape& shape, const contestant& trained,
            const contestant& fixed, results& found) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < fixed.seconds.size(); ++i)
    ratios.push_back(trained.seconds[i] / fixed.seconds[i]);
  const double seconds = median(trained.seconds);
  const double images = images_per_second(shape, seconds);
  const double loss = trained.network.loss();
  print_step(network, trained, "median", seconds);
  const double cores = median(trained.cores);
  std::printf(" %10.0f %6.2f %8.3f [%5.3f, %5.3f] %9.3f", images, cores, median(ratios),
              quantile(ratios, 0), quantile(ratios, 1), loss);
  end_line();
  found.add({{"network", network},
             {"feed", trained.fed.name},
             {"runs", trained.seconds.size()},
             {"step_ms", 1e3 * seconds},
             {"images_per_second", images},
             {"busy_cores", cores},
             {"ratio", median(ratios)},
             {"least_ratio", quantile(ratios, 0)},
             {"most_ratio", quantile(ratios, 1)},
             {"loss", loss}});
}

feedline::dataset_ptr open_folder(const options& options) {
  feedline::image_folder found = feedline::open_image_folder(
      options.folder, {.image = {.height = 256,
                                 .width = 256,
                                 .shorter_side = 256,
                                 .allow_damaged = options.allow_damaged}});
  if (found.classes.size() > 1000)
    throw feedline::usage_error{options.folder + " has more than the networks' 1000 classes"};
  return std::move(found.dataset);
}

/// A folder's images, of 224 x 224 pixels once the GPU has cut them.
named_feed make_jpeg_feed(const feedline::dataset_ptr& folder, const shape& shape,
                          feedline::decode_on decoder, const options& options) {
  feedline::loader_options loading =
      training_options(shape.batch_size, options.readers, /*flip=*/0.5);
  loading.placement = feedline::placement::stream;
  loading.decode_on = decoder;
  loading.transforms.front().resized_crop =
      feedline::random_resized_crop{.height = 224, .width = 224};
  auto made = std::make_unique<loader_feed>(folder, feedline::make_cuda_device(0), loading);
  if (made->plan().decode_on != decoder)
    throw feedline::usage_error{"readers decode: " + made->plan().decode_note};
  return {"JPEGs, " + std::string{to_string(decoder)} + ", " + std::to_string(options.readers) +
              " readers",
          std::move(made)};
}

/// Shuffled rows of memory.
named_feed make_row_feed(const feedline::dataset_ptr& data, const shape& shape,
                         const std::string& name, const options& options) {
  const feedline::placement where = name == "stream"   ? feedline::placement::stream
                                    : name == "gather" ? feedline::placement::gather
                                                       : feedline::placement::resident;
  const bool gathers = where == feedline::placement::gather;
  feedline::loader_options loading = training_options(
      shape.batch_size, gathers ? feedline::automatic_readers : options.readers, options.flip);
  loading.placement = where;
  const bool reads = where == feedline::placement::stream;
  return {"feedline " + name + (reads ? ", " + std::to_string(options.readers) + " readers" : ""),
          std::make_unique<loader_feed>(data, feedline::make_cuda_device(0), loading)};
}

std::vector<named_feed> make_feeds(const shape& shape, const options& options) {
  std::vector<named_feed> feeds;
  feeds.push_back({"a fixed batch", std::make_unique<fixed_batch>(shape)});
  feedline::dataset_ptr rows;
  feedline::dataset_ptr folder;
  for (const std::string& name : options.feeds) {
    if (name.starts_with("jpeg")) {
      if (!folder) folder = open_folder(options);
      const auto decoder = name == "jpeg" ? feedline::decode_on::device : feedline::decode_on::cpu;
      feeds.push_back(make_jpeg_feed(folder, shape, decoder, options));
    } else {
      if (!rows) rows = make_data(shape);
      feeds.push_back(make_row_feed(rows, shape, name, options));
    }
  }
  return feeds;
}

void run_network(const std::string& network, const shape& shape,
                 const std::vector<named_feed>& feeds, const options& options,
                 const c10::cuda::CUDAStream& stream, results& found) {
  const auto start = clock_type::now();
  std::vector<contestant> all;
  for (const named_feed& each : feeds)
    all.push_back({each, trainer{network == "resnet50", /*seed=*/1}});
  for (contestant& each : all) {
    print_step(network, each, "warm-up",
               run_steps(options.warm_up, each, stream).seconds / options.warm_up);
    end_line();
  }
  for (int i = 0; i < options.runs; ++i) {
    const auto began = clock_type::now();
    run_round(network, shape, all, options, stream);
    if (seconds_since(start) + seconds_since(began) > options.seconds) break;
  }
  for (const contestant& each : all) report(network, shape, each, all.front(), found);
}

void run(const options& options) {
  // A stream of libtorch's pool: its default one is null. The handle is the driver's, as events and
  // memory are, so it does not matter that libtorch made it with the runtime that it has loaded,
  // and that feedline uses the one that is linked into this program, whose names are hidden.
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(options.high_priority, 0);
  const c10::cuda::CUDAStreamGuard guard{stream};
  at::globalContext().setBenchmarkCuDNN(true);
  results found{"training", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    libtorch %s; bf16 by autocast, channels last; flip %.2g; a stream of %s "
      "priority;\n           %d steps a turn after %d and those on batches that lie ready, which "
      "are not measured;\n           ratio: to the fixed batch, [least, most]\n\n",
      TORCH_VERSION, options.flip, options.high_priority ? "high" : "usual", options.steps,
      options.warm_up);
  std::printf("%-10s %-30s %7s %10s %10s %6s %8s %14s %9s", "network", "feed", "round", "ms a step",
              "images/s", "cores", "ratio", "", "last loss");
  end_line();
  const shape shape = shapes_named("imagenet256").front();
  const std::vector<named_feed> feeds = make_feeds(shape, options);
  for (const std::string& network : options.networks) {
    run_network(network, shape, feeds, options, stream, found);
    found.write(options.json);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  feedline::test::command_line line{"What feeding costs a training loop"};
  options options;
  line.add_option("--networks", options.networks, "of resnet18, resnet50")
      .one_of({"resnet18", "resnet50"});
  line.add_option(
          "--feeds", options.feeds,
          "of stream, gather, resident, jpeg, jpeg-cpu, beside a fixed batch; else jpeg where a "
          "folder is given, and stream and resident where none is")
      .one_of({"stream", "gather", "resident", "jpeg", "jpeg-cpu"});
  line.add_option("--folder", options.folder, "JPEGs in a folder for each class");
  line.add_flag("--allow-damaged", options.allow_damaged,
                "JPEGs that the GPU decodes are not checked for damage");
  line.add_flag("--high-priority", options.high_priority,
                "the networks' kernels go before those that decode");
  line.add_option("--readers", options.readers, "reader threads, but for gather");
  line.add_option("--flip", options.flip, "probability that an image is flipped").between(0.0, 1.0);
  line.add_option("--steps", options.steps, "of a turn").positive();
  line.add_option("--warm-up", options.warm_up,
                  "steps before each turn that are not measured, beside those on batches that lie "
                  "ready")
      .positive();
  line.add_option("--runs", options.runs, "rounds, of which the median counts").positive();
  line.add_option("--seconds", options.seconds,
                  "for a network: a round that would end later is left out, but for the first")
      .positive();
  line.add_option("--json", options.json, "file that the results go to, for report.py");
  return run_program(line, argc, argv, has_gpu, [&] {
    using names = std::vector<std::string>;
    if (options.feeds.empty())
      options.feeds = options.folder.empty() ? names{"stream", "resident"} : names{"jpeg"};
    run(options);
  });
}
