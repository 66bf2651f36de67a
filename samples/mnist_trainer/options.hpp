#pragma once

#include <feedline/loader/loader_options.hpp>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>

namespace mnist {

/// What the command line says.
struct trainer_options {
  std::filesystem::path data;
  std::string device = "auto";  ///< or "cpu", "cuda", "cuda:N"
  std::uint64_t batch_size = 128;
  std::uint64_t epochs = 5;
  int readers = feedline::automatic_readers;
  feedline::placement placement = feedline::placement::automatic;
  std::size_t cache_mib = 0;
  std::uint64_t seed = 1;
  std::uint64_t within_chunks = 0;
  bool prefetch = true;
};

/// Reads the command line. Where it asks for help, or is wrong, ends the program: 0 or 2.
inline trainer_options parse_command_line(int argc, char** argv) {
  CLI::App app{"Trains a small network to read digits, fed by feedline."};
  app.option_defaults()->always_capture_default();
  trainer_options options;
  std::string placement = "auto";
  app.add_option(
         "--data", options.data,
         "Folder with MNIST's four IDX files, plain or .gz; or with digits called train and "
         "test (.h5, .tar, folders of .npy); or the path of those to train on")
      ->type_name("PATH")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--batch-size", options.batch_size, "Digits in a batch")
      ->check(CLI::Range(1, 65536));
  app.add_option("--epochs", options.epochs, "Passes over the training data")
      ->check(CLI::Range(1, 100000));
  auto* const readers = app.add_option(
      "--readers", options.readers,
      "Threads that read; 0: the training loop reads; -1: as many as suit the machine");
  readers->check(CLI::Range(-1, 1024));
  const std::map<std::string, feedline::placement> placements{
      {"auto", feedline::placement::automatic},
      {"stream", feedline::placement::stream},
      {"gather", feedline::placement::gather},
      {"resident", feedline::placement::resident},
      {"cached", feedline::placement::cached}};
  app.add_option("--placement", placement, "Where a GPU has its digits from")
      ->check(CLI::IsMember(placements));
  app.add_option("--cache", options.cache_mib, "MiB of the GPU's memory that digits may stay in")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40));
  app.add_option("--device", options.device, "auto, cpu, or cuda:N")
      ->check([](const std::string& text) -> std::string {
        if (std::regex_match(text, std::regex{"auto|cpu|cuda(:[0-9]{1,4})?"})) return {};
        return "'" + text + "' is no device: say auto, cpu, or cuda:N with N from 0";
      });
  app.add_option("--seed", options.seed, "Of the order of the digits and of the initial weights");
  app.add_option("--within-chunks", options.within_chunks,
                 "Mix so many chunks of the data at a time; 0: all digits with each other");
  app.add_flag(
         "!--no-prefetch", options.prefetch,
         "Read each batch when it is asked for, to compare with: no readers, one batch a copy")
      ->excludes(readers);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  options.placement = placements.at(placement);
  return options;
}

}  // namespace mnist
