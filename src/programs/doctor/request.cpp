#include "programs/doctor/request.hpp"

#include "programs/doctor/windows.hpp"
#include "programs/inputs/command_line.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace doctor {
namespace {

constexpr auto description =
    "Examines a file or folder of samples and the machine: its content and how it is read; how "
    "fast it is read and decoded, gathered by several readers and copied to the GPU; what limits a "
    "loop that computes --step on each batch; and which options suit it, as a program to paste. "
    "Only the files that --json, --picture and --code name are written.";

constexpr auto exit_codes =
    "Exit codes: 0 all was read; 1 it cannot be opened, or an output cannot be written; 2 the "
    "command line, or it does not suit the data; 3 reported, but samples cannot be read.";

const std::map<std::string, loop_order> orders{{"shuffle", loop_order::shuffle},
                                               {"windows", loop_order::windows},
                                               {"sequential", loop_order::sequential}};

/// "224x224", or nothing.
std::optional<std::pair<std::uint32_t, std::uint32_t>> read_size(const std::string& text) {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, height);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, width);
  if (second.ec != std::errc{} || second.ptr != end || height == 0 || width == 0)
    return std::nullopt;
  return std::pair{height, width};
}

void add_data_options(CLI::App& app, request& asked) {
  app.add_option_function<std::vector<std::string>>(
         "path",
         [&asked](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             asked.inputs.push_back(programs::input_of(text));
             asked.path += (asked.path.empty() ? "" : " ") + text;
           }
         },
         "Files, folders of images by class, or quoted patterns of shards of one format, each PATH "
         "or NAME=PATH; fields of all of them, side by side")
      ->required();
  programs::add_open_options(app, asked.how);
  app.add_option_function<std::string>(
         "--resize",
         [&asked](const std::string& text) {
           const auto size = read_size(text);
           if (!size)
             throw CLI::ValidationError{"--resize", text + " is not a size such as 224x224"};
           std::tie(asked.how.image.height, asked.how.image.width) = *size;
           asked.resizes = true;
         },
         "Size of decoded images; values of bytes of varying length are decoded as images if it is "
         "given; default: 224x224")
      ->type_name("HxW");
  app.add_flag_callback(
      "--resized-crop", [&asked] { asked.how.image.resized_crop.emplace(); },
      "A random window of each image as it is stored becomes a sample, as in RandomResizedCrop");
  auto* const window =
      app.add_option_function<std::vector<std::string>>(
             "--window",
             [&asked](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) {
                 const auto along = read_window(text);
                 if (!along)
                   throw CLI::ValidationError{
                       "--window", text +
                                       " is not a window: give time, time=4, time=4:2:6 (size, "
                                       "stride, step) or x=64@random"};
                 asked.windows.push_back(*along);
               }
             },
             "Samples are windows of arrays along this axis, a name or a number; packed numbers "
             "are unpacked")
          ->type_name("AXIS[=SIZE[:STRIDE[:STEP]]][@random]")
          ->allow_extra_args(false);
  app.add_option("--draws", asked.draws, "Windows at random positions for each one on the grid")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->needs(window);
  app.add_option("--pad", asked.pad,
                 "Elements of each sample, for values of varying length; longer samples are cut")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31));
  app.add_option("--read-whole", asked.whole,
                 "HDF5: fields of at most this many bytes together are read whole at opening; "
                 "default: 64 MiB");
}

void add_loop_options(CLI::App& app, request& asked) {
  app.add_option("-b,--batch-size", asked.batch_size, "Default: 256, or as many as there are")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option_function<std::string>(
         "-s,--step",
         [&asked](const std::string& text) {
           asked.step = read_time(text);
           if (!asked.step)
             throw CLI::ValidationError{"--step",
                                        text + " is not a time above 0: give 5ms, 200us or 0.1s"};
         },
         "Computing time of the loop for each batch: 5ms, 200us; default: none, as fast as "
         "possible")
      ->type_name("TIME");
  app.add_option("--readers", asked.readers,
                 "Of your loop as it is now; -1: as many as the loader chooses")
      ->check(CLI::Range(-1, 1024));
  app.add_option_function<std::string>(
         "--order", [&asked](const std::string& order) { asked.order = orders.at(order); },
         "Of your loop: shuffle, windows (of chunks), sequential")
      ->check(CLI::IsMember(orders));
  auto* const gpu = app.add_option_function<int>(
                           "--gpu",
                           [&asked](int ordinal) {
                             asked.gpu = ordinal;
                             asked.needs_gpu = true;
                           },
                           "Which GPU, as CUDA counts; an error if it cannot be used. Default: 0, "
                           "if there is one")
                        ->check(CLI::Range(0, 1024));
  app.add_flag_callback(
         "--no-gpu", [&asked] { asked.gpu.reset(); }, "Use none, though there is one")
      ->excludes(gpu);
  app.add_option("--device-bytes", asked.device_bytes,
                 "GPU memory that rows may take; default: half of what is free");
}

void add_measuring_options(CLI::App& app, request& asked) {
  app.add_option_function<double>(
         "--seconds", [&asked](double time) { asked.seconds = decltype(asked.seconds){time}; },
         "That measuring takes in all, about; default: 6")
      ->check(CLI::Range(0.05, 3600.0));
  app.add_option("--max-readers", asked.max_readers, "That are tried; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  app.add_option("--json", asked.json, "Write all as one object of JSON; -: instead of the text")
      ->type_name("FILE");
  app.add_option("--picture", asked.picture,
                 "Write the loop's timeline: .html, or .json for Perfetto")
      ->type_name("FILE")
      ->check([](const std::string& path) {
        return path.ends_with(".html") || path.ends_with(".json")
                   ? ""
                   : path + " ends neither with .html nor with .json (Perfetto)";
      });
  app.add_option("--code", asked.code, "Write the recommended program")->type_name("FILE.cpp");
}

}  // namespace

std::optional<std::chrono::nanoseconds> read_time(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{}) return std::nullopt;
  const std::map<std::string_view, double> units{
      {"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto found = units.find({unit, static_cast<std::size_t>(end - unit)});
  if (found == units.end()) return std::nullopt;
  const double count = number * found->second;
  if (!(count >= 1) || count > 3.6e12) return std::nullopt;
  return std::chrono::nanoseconds{std::llround(count)};
}

std::variant<request, int> read_command_line(int argc, const char* const* argv, std::ostream& out,
                                             std::ostream& err) {
  request asked;
  CLI::App app{description, "feedline-doctor"};
  app.footer(exit_codes);
  app.set_version_flag("--version", "feedline-doctor " + programs::version());
  add_data_options(app, asked);
  add_loop_options(app, asked);
  add_measuring_options(app, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  return asked;
}

}  // namespace doctor
