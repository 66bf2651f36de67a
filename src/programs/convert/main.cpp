// feedline-convert: any dataset that feedline reads, to HDF5, NumPy files or raw records.
//
// Build:  cmake --preset release && cmake --build --preset release --target feedline-convert
// Run:    build/release/src/programs/convert/feedline-convert image=train-images-idx3-ubyte
//             label=train-labels-idx1-ubyte --output train.h5
// Expect: train.h5: 60000 samples, written and read back equal
//           image: uint8[28, 28]  crc32 0x…
//           label: uint8[]  crc32 0x…
//
// It is a consumer of a loader like any other: see conversion.cpp.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/version.hpp>

#include "programs/convert/conversion.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/work/output_place.hpp"
#include "programs/convert/work/work_folder.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

namespace convert {
namespace {

const std::map<std::string, format> formats{
    {"hdf5", format::hdf5}, {"npy", format::npy}, {"records", format::records}};

const std::map<std::string, compression> filters{{"none", compression::none},
                                                 {"deflate", compression::deflate},
                                                 {"lz4", compression::lz4},
                                                 {"zstd", compression::zstd}};

const std::map<std::string, feedline::external_files> external_rules{
    {"refuse", feedline::external_files::refuse},
    {"same-folder", feedline::external_files::same_folder},
    {"allow", feedline::external_files::allow}};

const std::map<std::string, feedline::element_type> label_types{
    {"uint8", feedline::element_type::u8},
    {"uint16", feedline::element_type::u16},
    {"int32", feedline::element_type::i32},
    {"uint32", feedline::element_type::u32},
    {"int64", feedline::element_type::i64}};

std::string version() {
  return fmt::format("feedline-convert {}.{}.{}", FEEDLINE_VERSION_MAJOR, FEEDLINE_VERSION_MINOR,
                     FEEDLINE_VERSION_PATCH);
}

/// What the command line says.
struct command {
  std::vector<std::string> inputs;
  feedline::open_options how;  ///< they are opened
  convert::job job;
};

/// Reads the command line. Where it asks for help, or cannot be understood, prints what there is to
/// say and ends the program: 0 or 2.
command parse_command_line(int argc, char** argv) {
  CLI::App app{
      "Converts datasets to HDF5 in chunks fit for fast shuffled reading, to NumPy files or to raw "
      "records. What is written is read back and compared, and only then put in its place by one "
      "rename; until then it is made in the folder OUTPUT.part. A conversion that was cut short "
      "goes on when the same command is given again; two at once on one output are refused.\n\n"
      "What is at OUTPUT is replaced if feedline-convert wrote it and nobody changed it since, "
      "which extended attributes of its files tell; anything else (a copy too) is refused, unless "
      "--force is given. An output that is, contains or lies inside an input is always refused. "
      "No other file or folder is touched."};
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", version());
  command line;
  job& job = line.job;
  std::string to = "hdf5";
  std::string filter = "deflate";
  std::string label_type = "int32";
  std::uint64_t seed = 0;
  std::size_t checkpoint_mib = job.checkpoint_bytes >> 20;
  app.add_option(
         "input", line.inputs,
         "Files or folders, each PATH or NAME=PATH; fields of all of them, side by side. Shards "
         "of one format by a quoted pattern: 'image=shard-{0000..0003}.npy', 'part-*.tar'")
      ->required();
  app.add_option("--fields", line.how.fields,
                 "Of each input, in the order wanted: HDF5 datasets by path, members, fields")
      ->type_name("NAME");
  app.add_option("--height", line.how.image.height, "Of images that are decoded");
  app.add_option("--width", line.how.image.width, "Of images that are decoded");
  app.add_option("--shorter-side", line.how.image.shorter_side,
                 "Of images before the middle is cut from them; 0: they are stretched");
  app.add_option("--tokens-per-sample", line.how.tokens_per_sample, "Of shards of tokens");
  app.add_option("--label-type", label_type, "Of labels of folders and tar shards")
      ->type_name("TYPE")
      ->check(CLI::IsMember(label_types));
  std::string external = "refuse";
  app.add_option("--external", external,
                 "HDF5: which other files an input may name as raw data, links or virtual sources: "
                 "refuse: none; same-folder: those in its folder or below; allow: any that you "
                 "may read")
      ->type_name("RULE")
      ->check(CLI::IsMember(external_rules));
  std::string output;
  app.add_option("-o,--output", output,
                 "What to write: a file, or with --to npy a folder; DIR/ is taken as DIR")
      ->type_name("PATH")
      ->required();
  app.add_option("--to", to, "hdf5; npy: a folder with a file for each field; or records")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats));
  auto* const contiguous =
      app.add_flag("--contiguous", job.layout.contiguous, "HDF5: in one piece, uncompressed");
  app.add_option("--chunk-rows", job.layout.chunk_rows,
                 "HDF5: samples in a chunk; 0: as many as take about 128 KiB")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32))
      ->excludes(contiguous);
  app.add_option("--compression", filter,
                 "HDF5: none, deflate, lz4 or zstd (the last two need the library's plugins)")
      ->type_name("FILTER")
      ->check(CLI::IsMember(filters))
      ->excludes(contiguous);
  app.add_option("--level", job.layout.level, "HDF5: of deflate 1 to 9, of zstd 1 to 19")
      ->check(CLI::Range(1, 19))
      ->excludes(contiguous);
  auto* const shuffle = app.add_option("--shuffle", seed, "Write in the random order of this seed")
                            ->type_name("SEED");
  app.add_option("--within-chunks", job.within_chunks,
                 "Of a chunked input, mix so many chunks at a time; 0: all")
      ->needs(shuffle);
  app.add_option("--readers", job.readers, "Threads that read; -1: as many as suit the machine")
      ->check(CLI::Range(-1, 1024));
  app.add_option("--checkpoint", checkpoint_mib,
                 "MiB that may have to be written again after a stop")
      ->type_name("MIB")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  app.add_flag("--force", job.force,
               "Replace OUTPUT, a file, a link or a folder with all that is in it, whoever wrote "
               "it, once the new one is whole; never an input");
  app.add_flag("--restart", job.restart, "Begin anew, whatever an earlier run left unfinished");
  try {
    app.parse(argc, argv);
    if (filter == "deflate" && job.layout.level > 9)
      throw CLI::ValidationError{"--level", "deflate has levels 1 to 9"};
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  job.output = output_path(output);
  job.to = formats.at(to);
  job.layout.filter = filters.at(filter);
  line.how.label_type = label_types.at(label_type);
  line.how.external = external_rules.at(external);
  if (shuffle->count() != 0) job.shuffle = seed;
  job.checkpoint_bytes = checkpoint_mib << 20;
  return line;
}

/// A line on the terminal that shows how far a conversion is. Where standard output is no terminal
/// it prints nothing, so that logs hold whole lines only.
class progress_line {
 public:
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { erase(); }

  /// Draws, but no more than ten times a second.
  void show(step now, std::uint64_t done, std::uint64_t samples) {
    if (!on_terminal_) return;
    const clock::time_point time = clock::now();
    if (now != step_ || done < begun_at_) {
      step_ = now;
      begun_at_ = done;
      begun_ = time;
    }
    if (time - drawn_ < std::chrono::milliseconds{100}) return;
    drawn_ = time;
    constexpr std::array words{"checking what is there", "writing", "reading back"};  // of steps
    const double seconds = std::chrono::duration<double>(time - begun_).count();
    const double rate = seconds > 0 ? static_cast<double>(done - begun_at_) / seconds : 0;
    fmt::print("{}{}: {} of {} samples, {:3.0f} %, {:.0f} a second", erase_line,
               words[static_cast<std::size_t>(now)], done, samples,
               100 * static_cast<double>(done) / static_cast<double>(samples), rate);
    std::fflush(stdout);
  }

  void erase() {
    if (!on_terminal_) return;
    std::fputs(erase_line, stdout);
    std::fflush(stdout);
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto erase_line = "\r\x1b[K";

  bool on_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  step step_ = step::checking;
  std::uint64_t begun_at_ = 0;  ///< samples, of the step
  clock::time_point begun_ = clock::now();
  clock::time_point drawn_{};
};

void run_command(int argc, char** argv) {
  command line = parse_command_line(argc, argv);
  line.job.inputs = paths_of(line.inputs);
  require_apart_from_inputs(line.job);
  (void)check_output(line.job);
  const source from = open_source(line.inputs, line.how);
  line.job.source = from.words;

  progress_line progress;
  const converted done = run(
      from.samples, line.job,
      [&](step now, std::uint64_t samples, std::uint64_t of) { progress.show(now, samples, of); });
  progress.erase();

  fmt::print("{}: {} samples, written and read back equal", line.job.output.string(), done.samples);
  if (done.resumed_from != 0) fmt::print(" ({} of them by an earlier run)", done.resumed_from);
  fmt::print("\n");
  for (std::size_t f = 0; f < done.fields.size(); ++f)
    fmt::print("  {}  crc32 {}\n", to_string(done.fields[f]), to_hex(done.checksums[f]));
}

}  // namespace
}  // namespace convert

int main(int argc, char** argv) {
  convert::leave_hdf5_as_it_is_at_exit();
  const auto log = spdlog::stderr_color_mt("feedline");
  log->set_level(spdlog::level::warn);  // what its loaders settle on is of no interest here
  spdlog::set_default_logger(log);
  try {
    convert::run_command(argc, argv);
  } catch (const feedline::usage_error& error) {
    std::fprintf(stderr, "feedline-convert: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline-convert: %s\n", error.what());
    return 1;
  }
  return 0;
}
