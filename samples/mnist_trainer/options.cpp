#include "options.hpp"

#include <feedline/error.hpp>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdlib>
#include <map>

namespace mnist {
namespace {

const std::map<std::string, feedline::placement> placements{
    {"auto", feedline::placement::automatic},
    {"stream", feedline::placement::stream},
    {"gather", feedline::placement::gather},
    {"resident", feedline::placement::resident},
    {"cached", feedline::placement::cached}};

}  // namespace

device_choice device_choice::parse(const std::string& text) {
  if (text == "auto") return {kind::automatic, 0};
  if (text == "cpu") return {kind::cpu, 0};
  if (text == "cuda") return {kind::cuda, 0};
  const std::string prefix = "cuda:";
  if (text.starts_with(prefix)) {
    int ordinal = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, ordinal);
    if (error == std::errc{} && rest == end && ordinal >= 0) return {kind::cuda, ordinal};
  }
  throw feedline::usage_error{"--device is '" + text + "': say auto, cpu, or cuda:N with N from 0"};
}

trainer_options parse_command_line(int argc, char** argv) {
  CLI::App app{"Trains a small network to read digits, fed by feedline."};
  app.option_defaults()->always_capture_default();
  trainer_options options;
  std::string device = "auto";
  std::string placement = "auto";
  bool no_prefetch = false;
  app.add_option(
         "--data", options.data,
         "Folder with MNIST's four IDX files, plain or .gz; or with digits called train and "
         "test (.h5, .tar, folders of .npy); or the path of those to train on")
      ->type_name("PATH")
      ->required();
  app.add_option("--batch-size", options.batch_size, "Digits in a batch")
      ->check(CLI::Range(1, 65536));
  app.add_option("--epochs", options.epochs, "Passes over the training data")
      ->check(CLI::Range(1, 100000));
  auto* const readers =
      app.add_option(
             "--readers", options.readers,
             "Threads that read; 0: the training loop reads; -1: as many as suit the machine")
          ->check(CLI::Range(-1, 1024));
  app.add_option("--placement", placement,
                 "Where a GPU has its digits from: auto, stream, gather, resident or cached")
      ->type_name("PLACEMENT")
      ->check(CLI::IsMember(placements));
  app.add_option("--cache", options.cache_mib, "MiB of the GPU's memory that digits may stay in")
      ->type_name("MIB")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40));
  app.add_option("--device", device, "auto, cpu, or cuda:N")->type_name("DEVICE");
  app.add_option("--seed", options.seed, "Of the order of the digits and of the initial weights");
  app.add_option("--within-chunks", options.within_chunks,
                 "Mix so many chunks of the data at a time; 0: all digits with each other");
  app.add_option("--sorted-chunks", options.sorted_chunks,
                 "Take the digits as if stored by label, in chunks of so many; 0: as they are")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--learning-rate", options.learning_rate, "The highest; it rises and falls")
      ->check(CLI::PositiveNumber);
  app.add_flag(
         "--no-prefetch", no_prefetch,
         "Read each batch when it is asked for, to compare with: no readers, one batch a copy")
      ->excludes(readers);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  options.device = device_choice::parse(device);
  options.placement = placements.at(placement);
  options.prefetch = !no_prefetch;
  return options;
}

}  // namespace mnist
