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

#include "programs/convert/command_line.hpp"
#include "programs/convert/conversion.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/work/work_folder.hpp"
#include "programs/words/failure.hpp"
#include "programs/words/log.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

namespace convert {
namespace {

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
    constexpr std::array words{"checking what is there", "writing", "reading back",
                               "looking for damage"};  // names of steps
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

/// A failure's words except for the sample's number, which samples of one chunk share.
std::string cause_of(const feedline::sample_failure& failed) {
  std::string text = failed.message;
  const std::string number = "sample " + std::to_string(failed.sample.value);
  if (const auto at = text.find(number); at != std::string::npos) text.erase(at, number.size());
  return text;
}

/// Tells on standard error which samples are not in the output: those in a row that have one cause
/// by one line, with the first one's words.
void list_left_out(const std::vector<feedline::sample_failure>& left_out, std::uint64_t written) {
  std::string text =
      fmt::format("feedline-convert: {} of {} samples cannot be read and were left out:\n",
                  left_out.size(), written + left_out.size());
  for (std::size_t i = 0; i < left_out.size();) {
    const std::uint64_t first = left_out[i].sample.value;
    const std::string cause = cause_of(left_out[i]);
    std::size_t count = 1;
    while (i + count < left_out.size() && left_out[i + count].sample.value == first + count &&
           cause_of(left_out[i + count]) == cause)
      ++count;
    text += count == 1 ? fmt::format("  sample {}: ", first)
                       : fmt::format("  samples {} to {}: ", first, first + count - 1);
    text += in_words_of(programs::program::convert, left_out[i].message) + '\n';
    i += count;
  }
  std::fputs(text.c_str(), stderr);
}

int run_command(int argc, char** argv) {
  command line = parse_command_line(argc, argv);
  line.job.inputs = paths_of(line.inputs);
  require_apart_from_inputs(line.job);
  (void)check_output(line.job);
  const source from = open_source(line.inputs, line.how, line.carry);
  line.job.source = from.words;
  line.job.carried = from.carried;

  progress_line progress;
  const converted done = run(
      from.samples, line.job,
      [&](step now, std::uint64_t samples, std::uint64_t of) { progress.show(now, samples, of); });
  progress.erase();

  fmt::print("{}: {} samples, written and read back equal", line.job.output.string(), done.samples);
  if (done.resumed_from != 0) fmt::print(" ({} of them by an earlier run)", done.resumed_from);
  fmt::print("\n");
  for (std::size_t f = 0; f < done.fields.size(); ++f)
    fmt::print("  {}  crc32 {:#010x}\n", to_string(done.fields[f]), done.checksums[f]);
  if (done.left_out.empty()) return 0;
  std::fflush(stdout);
  list_left_out(done.left_out, done.samples);
  return programs::not_all_read;
}

}  // namespace
}  // namespace convert

int main(int argc, char** argv) {
  convert::leave_hdf5_as_it_is_at_exit();
  // The tuning of its loaders is not reported here.
  programs::log_in_words_of(programs::program::convert, spdlog::level::warn);
  try {
    return convert::run_command(argc, argv);
  } catch (...) {
    const programs::failure why = programs::current_failure(programs::program::convert);
    std::fprintf(stderr, "%s\n", why.message.c_str());
    return why.code;
  }
}
