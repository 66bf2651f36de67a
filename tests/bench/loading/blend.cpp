/// Time and memory that one rank of a large job takes to be ready for a blend of many files of
/// tokens, and how many tokens a second it is given. The files are sparse, of 16-bit tokens.
///
///     feedline_bench_blend [--files 2000] [--tokens 15000000000000] [--scheduled]
///     feedline_bench_blend --tokens 2000000000 --world 1 --readers 1,4,8 --batch-size 64 --gpu
///
/// Method: all files are made first. Then each is opened as a dataset of its own, with a weight of
/// its own; `concatenate` and a `mixture` join them, or a `scheduled_mixture` with two points. Rank
/// 4095 of 4096 makes a loader and takes its first batch. `ready` is the time from before the first
/// file is opened until that batch is there. `memory` is the growth of the process's peak resident
/// memory. `folder` counts the files after it. `rate` is tokens a second over the batches that
/// follow, with each number of readers: a window's tokens count once, and are delivered twice, as
/// inputs and as targets. Files that fit into memory are filled before, because a sparse file is
/// never in memory, and is then read by system calls and hints instead of mapped. "a core" means
/// tokens by CPU seconds of all threads. With `--check` the processor's time counts instead of the
/// clock's, because others may run programs, and a build without optimization may be three
/// times slower. An index that is built, a file that is written or a table over samples would show
/// here.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>

#include "bench/processor.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/destination.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
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
  std::uint64_t batch_size = 8;
  int world = 4096;
  std::vector<int> readers{2};
  int batches = 200;
  bool scheduled = false;
  bool gpu = false;
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

/// The files, joined, and their order.
struct blend {
  dataset_ptr samples;
  sampler order;
};

blend open_blend(const sparse_files& files, const settings& how) {
  std::vector<dataset_ptr> parts;
  std::vector<double> weights;
  for (const std::string& path : files.paths()) {
    parts.push_back(
        open_tokens({path}, {.tokens_per_sample = how.per_sample, .type = element_type::u16}));
    weights.push_back(1 + static_cast<double>(parts.size() % 17));
  }
  const std::uint64_t epoch = how.tokens / how.per_sample;
  const dataset_ptr all = concatenate(parts);
  if (!how.scheduled) return {all, mixture{parts, weights, {.seed = 1, .epoch_size = epoch}}};
  const std::vector<double> later{weights.rbegin(), weights.rend()};
  return {all, scheduled_mixture{parts,
                                 {{0, weights}, {static_cast<double>(epoch / 2), later}},
                                 {.seed = 1, .epoch_size = epoch}}};
}

loader_options loading(const settings& how, int readers) {
  return {.batch_size = how.batch_size,
          .shard = {.rank = how.world - 1, .world = how.world},
          .epochs = UINT64_MAX,
          .readers = readers};
}

/// Takes a number of batches, and says how many tokens a second they had.
void measure_rate(const blend& of, const settings& how, int readers) {
  const bench::destination to{how.gpu};
  loader from{of.samples, of.order, to.device(), loading(how, readers)};
  std::uint64_t pass = 0;
  std::optional<epoch_range> range;
  const auto take = [&](int batches) {
    for (int taken = 0; taken < batches;) {
      if (!range) range.emplace(from.epoch(pass++, to.stream()));
      if (range->next())
        ++taken;
      else
        range.reset();
    }
    to.wait();
  };
  take(how.batches / 4 + 1);
  const bench::meter clock;
  take(how.batches);
  const auto tokens =
      static_cast<double>(how.batches) * static_cast<double>(how.batch_size * how.per_sample);
  const bench::delivered run = clock.stop(static_cast<std::uint64_t>(how.batches), 0);
  std::printf("%d readers: rate %.3g tokens/s, %.3g a core, %.2f busy cores; %d batches of %llu\n",
              readers, tokens / run.seconds, tokens / run.cpu_seconds, run.busy_cores(),
              how.batches, static_cast<unsigned long long>(how.batch_size * how.per_sample));
  std::fflush(stdout);
}

/// Writes tokens to files that fit into memory, so that their pages are there.
void fill(const sparse_files& files, const settings& how) {
  constexpr std::uint64_t most_tokens = std::uint64_t{1} << 33U;  // 16 GiB
  if (how.tokens > most_tokens) return;
  std::vector<std::uint16_t> tokens(std::size_t{1} << 19U);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::uint16_t>(i * 40'503);
  const auto bytes = std::as_bytes(std::span{tokens});
  for (const std::string& path : files.paths()) {
    std::ofstream file{path, std::ios::binary | std::ios::in};
    for (std::uint64_t left = std::filesystem::file_size(path); left != 0;) {
      const std::uint64_t count = std::min<std::uint64_t>(left, bytes.size());
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(count));
      left -= count;
    }
    if (!file.flush()) throw std::runtime_error{"cannot write " + path};
  }
}

/// @return Whether the first batch was there in time, with little memory, and no new file.
bool measure_ready(const sparse_files& files, const settings& how) {
  const bench::destination to{how.gpu};  // a context of CUDA is the process's, not the loader's
  to.wait();
  const double before = peak_mib();
  const auto begun = std::chrono::steady_clock::now();
  const std::clock_t work = std::clock();
  const blend of = open_blend(files, how);
  const double opened = seconds_since(begun);
  loader loader{of.samples, of.order, to.device(), loading(how, how.readers.front())};
  auto range = loader.epoch(0, to.stream());
  if (!range.next()) throw std::runtime_error{"there is no batch"};
  to.wait();
  const double ready = seconds_since(begun);
  const double memory = peak_mib() - before;
  const double worked = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  const std::uint64_t count = files.count();
  std::printf("opened %.3f s, ready %.3f s, memory %.1f MiB, folder %llu files\n", opened, ready,
              memory, static_cast<unsigned long long>(count));
  std::fflush(stdout);
  if (!how.checks) return true;
#ifdef NDEBUG
  constexpr double most = 1;
#else
  constexpr double most = 3;
#endif
  if (worked < most && memory <= 100 && count == how.files) return true;
  std::fprintf(stderr,
               "%.3f s of work, %.1f MiB, %llu files: at most %.0f s, 100 MiB, %llu files\n",
               worked, memory, static_cast<unsigned long long>(count), most,
               static_cast<unsigned long long>(how.files));
  return false;
}

int run(const settings& how) {
  std::printf("%s, %u hardware threads; %llu files, %.3g tokens; rank %d of %d, %s\n",
              bench::processor().c_str(), std::thread::hardware_concurrency(),
              static_cast<unsigned long long>(how.files), static_cast<double>(how.tokens),
              how.world - 1, how.world, how.gpu ? "to GPU 0" : "host device");
  const sparse_files files{how};
  const bool is_good = measure_ready(files, how);
  fill(files, how);
  const blend of = open_blend(files, how);
  for (const int readers : how.readers) measure_rate(of, how, readers);
  return is_good ? 0 : 1;
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
  line.add_option("--batch-size", how.batch_size, "windows")
      .between(std::uint64_t{1}, std::uint64_t{1} << 16U);
  line.add_option("--world", how.world, "ranks; the last one is measured").between(1, 1 << 20);
  line.add_option("--readers", how.readers, "numbers of readers to try");
  line.add_option("--batches", how.batches, "to take after some").between(1, 10'000'000);
  line.add_flag("--gpu", how.gpu, "deliver to GPU 0");
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
