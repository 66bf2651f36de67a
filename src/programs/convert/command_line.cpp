#include "programs/convert/command_line.hpp"

#include <feedline/error.hpp>

#include "programs/inputs/command_line.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <map>

namespace convert {
namespace {

const std::map<std::string, format> formats{{"hdf5", format::hdf5},
                                            {"npy", format::npy},
                                            {"zarr", format::zarr},
                                            {"zarr2", format::zarr2},
                                            {"records", format::records}};

const std::map<std::string, compression> filters{{"none", compression::none},
                                                 {"deflate", compression::deflate},
                                                 {"lz4", compression::lz4},
                                                 {"zstd", compression::zstd}};

const std::map<std::string, feedline::element_type> label_types{
    {"uint8", feedline::element_type::u8},
    {"uint16", feedline::element_type::u16},
    {"int32", feedline::element_type::i32},
    {"uint32", feedline::element_type::u32},
    {"int64", feedline::element_type::i64}};

/// The output's path without slashes at its end.
/// @throws feedline::usage_error if it names no entry of a folder: "", ".", "..", "/".
std::filesystem::path output_path(std::string given) {
  const std::string text = given;
  while (given.size() > 1 && given.back() == '/') given.pop_back();
  std::filesystem::path path{given};
  const std::string name = path.filename().string();
  if (name.empty() || name == "." || name == "..")
    throw feedline::usage_error{fmt::format(
        "--output '{}': is the path of a folder, without the name of an output; add one, as in {}",
        text, (path / "train.h5").string())};
  return path;
}

constexpr auto exit_codes =
    "Exit codes: 0 all was written, and read back equal; 1 an input cannot be read, or the output "
    "not be written; 2 the command line, or it does not suit the data; 3 all was written except "
    "samples that cannot be read (--skip-damaged), which were listed.";

}  // namespace

command parse_command_line(int argc, char** argv) {
  CLI::App app{
      "Converts datasets to HDF5 in chunks fit for fast shuffled reading, to NumPy files or to raw "
      "records. What is written is read back and compared, and only then renamed to OUTPUT; until "
      "then it stands in the folder OUTPUT.part. A conversion that was cut short continues when "
      "the same command is given again; two at once on one output are refused.\n\n"
      "An OUTPUT that exists is refused, unless --force is given. An output that is, contains or "
      "lies inside an input is always refused. "
      "No other file or folder is touched."};
  app.footer(exit_codes);
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", "feedline-convert " + programs::version());
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
  programs::add_open_options(app, line.how);
  app.add_option("--like", line.how.like,
                 "HDF5: instead of --fields, all datasets that have as many samples as this one")
      ->type_name("NAME");
  app.add_option("--height", line.how.image.height, "Height of decoded images");
  app.add_option("--width", line.how.image.width, "Width of decoded images");
  app.add_option("--max-pixels", line.how.image.max_pixels,
                 "Limit of an image's pixels; larger images are refused before they are decoded")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  app.add_option("--label-type", label_type, "Type of the labels of folders and tar shards")
      ->type_name("TYPE")
      ->check(CLI::IsMember(label_types));
  std::string output;
  app.add_option(
         "-o,--output", output,
         "Output to write: a file, or with --to npy and zarr a folder; DIR/ is taken as DIR")
      ->type_name("PATH")
      ->required();
  app.add_option(
         "--to", to,
         "hdf5; npy: a folder with a file for each field; zarr: a Zarr store of version 3; zarr2: "
         "one of version 2; or records")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats));
  app.add_flag(
      "--keep-groups", line.carry.groups,
      "HDF5, Zarr, from either: fields have their whole paths as names, so that groups are "
      "those of the input");
  auto* const contiguous =
      app.add_flag("--contiguous", job.layout.contiguous, "HDF5: in one piece, uncompressed");
  app.add_option(
         "--chunk-rows", job.layout.chunk_rows,
         "HDF5, Zarr: samples in a chunk; 0: as many as take about 128 KiB, for Zarr as many as "
         "in the input's chunks, or as take about 1 MiB")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32))
      ->excludes(contiguous);
  auto* const compressed =
      app.add_option("--compression", filter,
                     "HDF5, Zarr: none, deflate, lz4 or zstd (which h5py reads with hdf5plugin); "
                     "for Zarr zstd unless given")
          ->type_name("FILTER")
          ->check(CLI::IsMember(filters))
          ->excludes(contiguous);
  auto* const level =
      app.add_option("--level", job.layout.level,
                     "1 to 9 for deflate, 1 to 19 for zstd; for Zarr zstd's default unless given")
          ->check(CLI::Range(1, 19))
          ->excludes(contiguous);
  auto* const shuffle = app.add_option("--shuffle", seed, "Write in the random order of this seed")
                            ->type_name("SEED");
  app.add_option("--within-chunks", job.within_chunks,
                 "Chunks of the input that are mixed at a time; 0: all")
      ->needs(shuffle);
  app.add_option("--readers", job.readers, "Threads that read; -1: as many as suit the machine")
      ->check(CLI::Range(-1, 1024));
  app.add_option("--checkpoint", checkpoint_mib,
                 "MiB that may have to be written again after a stop")
      ->type_name("MIB")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  app.add_flag("--force", job.force,
               "Replace OUTPUT, a file, a link or a folder with its contents, once the new one is "
               "complete; never an input");
  app.add_flag("--skip-damaged", job.skip_damaged,
               "Leave out samples that cannot be read, and list them; finding them takes one more "
               "read of the input");
  app.add_flag("--restart", job.restart, "Begin again, whatever an earlier run left unfinished");
  try {
    app.parse(argc, argv);
    if (filter == "deflate" && job.layout.level > 9)
      throw CLI::ValidationError{"--level", "deflate has levels 1 to 9"};
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  job.output = output_path(output);
  job.to = formats.at(to);
  line.carry.attributes = job.to != format::npy && job.to != format::records;
  if (line.carry.groups && !line.carry.attributes)
    throw feedline::usage_error{"--keep-groups: " + to + " has no groups; leave it out"};
  if (job.to == format::zarr || job.to == format::zarr2) {  // zarr-python does the same
    if (compressed->count() == 0) filter = "zstd";
    if (filter == "zstd" && level->count() == 0) job.layout.level = 0;
  }
  job.layout.filter = filters.at(filter);
  line.how.label_type = label_types.at(label_type);
  if (shuffle->count() != 0) job.shuffle = seed;
  job.checkpoint_bytes = checkpoint_mib << 20;
  return line;
}

}  // namespace convert
