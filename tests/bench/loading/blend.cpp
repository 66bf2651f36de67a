/// Time and memory that one rank of a large job takes to be ready for a blend of many files of
/// tokens: `feedline_bench_blend [--files 2000] [--tokens 15000000000000] [--scheduled]`. It needs
/// no GPU, and no room: the files are sparse, of 16-bit zeros.
///
/// Method: all files are made first. Then each is opened as a dataset of its own, with a weight of
/// its own; `concatenate` and a `mixture` join them, or a `scheduled_mixture` with two points. Rank
/// 4095 of 4096 makes a loader and takes its first batch. `ready` is the time from before the first
/// file is opened until that batch is there. `memory` is the growth of the process's peak resident
/// memory. `folder` counts the files after it. `rate` is tokens a second over the batches that
/// follow. With `--check` the processor's time counts instead of the clock's, because others may
/// run programs, and a build without optimization may take three times as long. An index that is
/// built, a file that is written or a table over samples would show here.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>

#include "bench/processor.hpp"
#include "support/command_line.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <stdlib.h>

using namespace feedline;

namespace {

struct settings {
  std::uint64_t files = 2000;
  std::uint64_t tokens = 15'000'000'000'000;
  std::uint64_t per_sample = 4096;
  int batches = 200;
  bool scheduled = false;
  bool checks = false;
};

/// A folder with sparse files, removed with everything in it.
class sparse_files {
 public:
  explicit sparse_files(const settings& how) {
    std::string name = (std::filesystem::temp_directory_path() / "blend-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make a folder " + name};
    folder_ = name;
    for (std::uint64_t i = 0; i < how.files; ++i) {
      const auto path = folder_ / ("part-" + std::to_string(i) + ".bin");
      std::ofstream{path};
      // Files of a blend differ in size: here by up to a half around the mean.
      const std::uint64_t mean = how.tokens / how.files;
      std::filesystem::resize_file(path, 2 * (mean / 2 + mean * (i % 101) / 100));
      paths_.push_back(path.string());
    }
  }
  sparse_files(const sparse_files&) = delete;
  sparse_files& operator=(const sparse_files&) = delete;
  ~sparse_files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::distance(std::filesystem::directory_iterator{folder_},
                                                    std::filesystem::directory_iterator{}));
  }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> paths_;
};

/// The most resident memory that the process has had, in MiB.
double peak_mib() {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  throw std::runtime_error{"/proc/self/status has no VmHWM"};
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - begun}.count();
}

int run(const settings& how) {
  std::printf("%s, %u hardware threads; %llu files, %.3g tokens; rank 4095 of 4096\n",
              bench::processor().c_str(), std::thread::hardware_concurrency(),
              static_cast<unsigned long long>(how.files), static_cast<double>(how.tokens));
  const sparse_files files{how};
  const double before = peak_mib();
  const auto begun = std::chrono::steady_clock::now();
  const std::clock_t work = std::clock();

  std::vector<dataset_ptr> parts;
  std::vector<double> weights;
  for (const std::string& path : files.paths()) {
    parts.push_back(
        open_tokens({path}, {.tokens_per_sample = how.per_sample, .type = element_type::u16}));
    weights.push_back(1 + static_cast<double>(parts.size() % 17));
  }
  const std::uint64_t epoch = how.tokens / how.per_sample;
  const sampler order =
      how.scheduled ? sampler{scheduled_mixture{
                          parts,
                          {{0, weights},
                           {static_cast<double>(epoch / 2), {weights.rbegin(), weights.rend()}}},
                          {.seed = 1, .epoch_size = epoch}}}
                    : sampler{mixture{parts, weights, {.seed = 1, .epoch_size = epoch}}};
  const double opened = seconds_since(begun);
  loader loader{concatenate(parts),
                order,
                make_host_device(),
                {.batch_size = 8, .shard = {.rank = 4095, .world = 4096}, .readers = 2}};
  auto range = loader.epoch(0);
  if (!range.next()) throw std::runtime_error{"there is no batch"};
  const double ready = seconds_since(begun);
  const double memory = peak_mib() - before;
  const double worked = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  const std::uint64_t count = files.count();
  std::printf("opened %.3f s, ready %.3f s, memory %.1f MiB, folder %llu files\n", opened, ready,
              memory, static_cast<unsigned long long>(count));

  const auto counted = std::chrono::steady_clock::now();
  for (int i = 0; i < how.batches; ++i)
    if (!range.next()) throw std::runtime_error{"the epoch is too short"};
  std::printf("rate %.3g tokens/s over %d batches of %llu tokens\n",
              static_cast<double>(how.batches) * 8 * static_cast<double>(how.per_sample) /
                  seconds_since(counted),
              how.batches, static_cast<unsigned long long>(8 * how.per_sample));
  std::fflush(stdout);
  if (!how.checks) return 0;
#ifdef NDEBUG
  constexpr double most = 1;
#else
  constexpr double most = 3;
#endif
  const bool good = worked < most && memory <= 100 && count == how.files;
  if (!good)
    std::fprintf(stderr,
                 "%.3f s of work, %.1f MiB, %llu files: at most %.0f s, 100 MiB, %llu files\n",
                 worked, memory, static_cast<unsigned long long>(count), most,
                 static_cast<unsigned long long>(how.files));
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char* argv[]) {
  settings how;
  test::command_line line{"How soon a rank is ready for a blend of many files"};
  line.add_option("--files", how.files, "of the blend")
      .between(std::uint64_t{1}, std::uint64_t{100'000});
  line.add_option("--tokens", how.tokens, "of all files together")
      .between(std::uint64_t{1'000'000}, std::uint64_t{1} << 50U);
  line.add_option("--tokens-per-sample", how.per_sample, "of a window")
      .between(std::uint64_t{1}, std::uint64_t{1} << 20U);
  line.add_option("--batches", how.batches, "to take after the first").between(1, 1'000'000);
  line.add_flag("--scheduled", how.scheduled, "weights follow a schedule");
  line.add_flag("--check", how.checks,
                "fail unless ready by 1 s of work, with 100 MiB and no new file");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    return run(how);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline_bench_blend: %s\n", error.what());
    return 1;
  }
}
