#include "options.hpp"

#include <feedline/error.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>

namespace mnist {
namespace {

const std::map<std::string, feedline::placement> placements{
    {"auto", feedline::placement::automatic},
    {"stream", feedline::placement::stream},
    {"gather", feedline::placement::gather},
    {"resident", feedline::placement::resident},
    {"cached", feedline::placement::cached}};

std::string check_device(const std::string& text) {
  static const std::regex known{"auto|cpu|cuda(:[0-9]{1,4})?"};
  if (std::regex_match(text, known)) return {};
  return "'" + text + "' is not a device: say auto, cpu, or cuda:N with N from 0";
}

}  // namespace

trainer_options parse_command_line(int argc, char** argv,
                                   const std::function<void(CLI::App&)>& more) {
  CLI::App app{"Trains a small network to read digits, fed by feedline."};
  trainer_options options;
  app.option_defaults()->always_capture_default();
  app.add_option("--data", options.data,
                 "Folder with MNIST's four IDX files, plain or .gz; or with digits called train "
                 "and test (.h5, .tar, folders of .npy); or the path of those to train on")
      ->type_name("PATH")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--device", options.device, "auto, cpu, or cuda:N")->check(check_device);
  app.add_option("--batch-size", options.batch_size, "Digits in a batch, of all GPUs together")
      ->check(CLI::Range(1, 65536));
  app.add_option("--epochs", options.epochs,
                 "Passes over the training data, over which the learning rate falls")
      ->check(CLI::Range(1, 100000));
  auto* const readers = app.add_option(
      "--readers", options.readers,
      "Threads that read; 0: the training loop reads; -1: as many as suit the machine");
  readers->check(CLI::Range(-1, 1024));
  app.add_option("--placement", options.placement, "Where a GPU has its digits from")
      ->check(CLI::IsMember(placements));
  app.add_option("--cache", options.cache_mib, "MiB of the GPU's memory that digits may stay in")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40));
  app.add_option("--seed", options.seed, "Of the order of the digits and of the initial weights");
  app.add_option("--within-chunks", options.within_chunks,
                 "Number of chunks that are mixed at a time; 0: all digits with each other");
  app.add_flag("!--no-prefetch", options.prefetch,
               "Read each batch when it is asked for, to compare: no readers, one batch a copy")
      ->excludes(readers);
  if (more) more(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

int report_errors(const char* program, const std::function<void()>& work) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that an epoch's line shows at its end
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return dynamic_cast<const feedline::usage_error*>(&error) != nullptr ? 2 : 1;
  }
}

feedline::loader_options loading(const trainer_options& options, const feedline::shard& share,
                                 std::uint64_t batch_size) {
  feedline::loader_options loading{.batch_size = batch_size, .shard = share};
  loading.epochs = options.epochs;  // so that each is read ahead while the one before ends
  loading.readers = options.prefetch ? options.readers : 0;
  loading.expert.batches_per_slot = options.prefetch ? 0 : 1;
  loading.placement = placements.at(options.placement);
  loading.memory.cache = options.cache_mib << 20;
  // Bytes cross the bus, floats reach the network. This is MNIST's mean pixel, and its deviation.
  loading.transforms = {{.field = "image", .mean = {33.3}, .stddev = {78.6}},
                        {.field = "label", .one_hot = 10}};
  return loading;
}

}  // namespace mnist
