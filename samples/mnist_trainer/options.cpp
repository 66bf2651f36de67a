#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <map>
#include <regex>
#include <string>

namespace mnist {
namespace {

const std::map<std::string, feedline::placement> placements{
    {"auto", feedline::placement::automatic},
    {"stream", feedline::placement::stream},
    {"gather", feedline::placement::gather},
    {"resident", feedline::placement::resident},
    {"cached", feedline::placement::cached}};

/// How the digits come to the network.
void add_loading(CLI::App& app, trainer_options& options, std::string& placement) {
  app.add_option(
         "--data", options.data,
         "Folder with MNIST's four IDX files, plain or .gz; or with digits called train and "
         "test (.h5, .tar, folders of .npy); or the path of those to train on")
      ->type_name("PATH")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--batch-size", options.batch_size, "Digits in a batch, of all GPUs together")
      ->check(CLI::Range(1, 65536));
  app.add_option("--epochs", options.epochs,
                 "Passes over the training data, over which the learning rate falls")
      ->check(CLI::Range(1, 100000));
  auto* const readers = app.add_option(
      "--readers", options.readers,
      "Threads that read; 0: the training loop reads; -1: as many as suit the machine");
  readers->check(CLI::Range(-1, 1024));
  app.add_option("--placement", placement, "Where a GPU has its digits from")
      ->check(CLI::IsMember(placements));
  app.add_option("--cache", options.cache_mib, "MiB of the GPU's memory that digits may stay in")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40));
  app.add_option("--seed", options.seed, "Of the order of the digits and of the initial weights");
  app.add_option("--within-chunks", options.within_chunks,
                 "Mix so many chunks of the data at a time; 0: all digits with each other");
  app.add_flag(
         "!--no-prefetch", options.prefetch,
         "Read each batch when it is asked for, to compare with: no readers, one batch a copy")
      ->excludes(readers);
}

/// What computes: one device, or several that share each batch.
void add_devices(CLI::App& app, trainer_options& options) {
  app.add_option("--device", options.device, "auto, cpu, or cuda:N")
      ->check([](const std::string& text) -> std::string {
        if (std::regex_match(text, std::regex{"auto|cpu|cuda(:[0-9]{1,4})?"})) return {};
        return "'" + text + "' is no device: say auto, cpu, or cuda:N with N from 0";
      });
  app.add_option("--gpus", options.gpus,
                 "GPUs that share each batch, each with a thread and a loader of its own. One "
                 "process a GPU is started by mpirun, torchrun or srun instead")
      ->check(CLI::Range(1, 1024));
  app.add_option("--ranks", options.ranks,
                 "With --device cpu: threads that share each batch as GPUs do, to try it")
      ->check(CLI::Range(1, 1024));
  app.add_flag("!--no-overlap", options.overlap,
               "Sum the gradients of several GPUs behind the backward pass, to compare with; not "
               "each layer's while that of the layer before is computed");
}

/// What is written, to go on from or to compare runs by.
void add_files(CLI::App& app, trainer_options& options) {
  auto* const checkpoint =
      app.add_option("--checkpoint", options.checkpoint,
                     "File for weights, velocities and the place in the data; written at the end "
                     "of each epoch")
          ->type_name("FILE");
  app.add_option("--every", options.every,
                 "Batches between two checkpoints; 0: they are at the end of epochs only")
      ->check(CLI::NonNegativeNumber)
      ->needs(checkpoint);
  app.add_flag("--resume", options.resume,
               "Go on from the checkpoint, if there is one; also on another number of GPUs")
      ->needs(checkpoint);
  app.add_option("--losses", options.losses, "File for a line a batch: epoch, batch, mean loss")
      ->type_name("FILE");
  app.add_option(
         "--checksums", options.checksums,
         "File for a line a batch: epoch, batch, checksum of it as the network has it, over "
         "all GPUs. Costs time")
      ->type_name("FILE");
}

}  // namespace

trainer_options parse_command_line(int argc, char** argv) {
  CLI::App app{"Trains a small network to read digits, fed by feedline."};
  app.option_defaults()->always_capture_default();
  trainer_options options;
  std::string placement = "auto";
  add_loading(app, options, placement);
  add_devices(app, options);
  add_files(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  options.placement = placements.at(placement);
  return options;
}

}  // namespace mnist
