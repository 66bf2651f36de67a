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

#include "programs/convert/conversion.hpp"
#include "programs/convert/input_guard.hpp"
#include "programs/convert/options.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/progress_line.hpp"
#include "programs/convert/source.hpp"
#include "programs/convert/work/checksums.hpp"
#include "programs/convert/work/output_place.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

namespace {

void run(int argc, char** argv) {
  convert::command line = convert::parse_command_line(argc, argv);
  line.job.inputs = convert::paths_of(line.inputs);
  convert::require_apart_from_inputs(line.job);
  (void)convert::check_output(line.job);
  const convert::source from = convert::open_source(line.inputs, line.how);
  line.job.source = from.words;

  convert::progress_line progress;
  const convert::converted done = convert::run(
      from.samples, line.job, [&](convert::step now, std::uint64_t samples, std::uint64_t of) {
        progress.show(now, samples, of);
      });
  progress.erase();

  std::printf("%s: %llu samples, written and read back equal", line.job.output.c_str(),
              static_cast<unsigned long long>(done.samples));
  if (done.resumed_from != 0)
    std::printf(" (%llu of them by an earlier run)",
                static_cast<unsigned long long>(done.resumed_from));
  std::printf("\n");
  for (std::size_t f = 0; f < done.fields.size(); ++f)
    std::printf("  %s  crc32 %s\n", feedline::to_string(done.fields[f]).c_str(),
                convert::to_hex(done.checksums[f]).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  convert::leave_hdf5_as_it_is_at_exit();
  const auto log = spdlog::stderr_color_mt("feedline");
  log->set_level(spdlog::level::warn);  // what its loaders settle on is of no interest here
  spdlog::set_default_logger(log);
  try {
    run(argc, argv);
  } catch (const feedline::usage_error& error) {
    std::fprintf(stderr, "feedline-convert: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline-convert: %s\n", error.what());
    return 1;
  }
  return 0;
}
