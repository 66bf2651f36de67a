/// Rows out of files: how fast a loader reads them shuffled, where they lie in memory already and
/// where they come from the disk, beside the same rows in RAM. Needs no GPU: the consumer is on the
/// CPU.

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/processor.hpp"
#include "bench/storage/by_hand.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "dataset/rows_dataset.hpp"
#include "io/local/file.hpp"
#include "rows/file_rows.hpp"
#include "rows/row_storage.hpp"
#include "support/files/cold_file.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace feedline::bench {
namespace {

struct storage_options {
  common_options common;
  std::string folder = std::filesystem::temp_directory_path();
  std::uint64_t mebibytes = 1024;
  std::vector<int> readers;
};

/// A dataset that does not report that hints would be useful.
class unhinted final : public dataset {
 public:
  explicit unhinted(dataset_ptr of) : of_{std::move(of)} {}
  [[nodiscard]] std::uint64_t size() const override { return of_->size(); }
  [[nodiscard]] std::vector<field> fields() const override { return of_->fields(); }
  void do_read(const read_request& request) const override { of_->read(request); }

 private:
  dataset_ptr of_;
};

/// A file of random bytes that is deleted with this object.
class rows_file {
 public:
  rows_file(const std::filesystem::path& folder, std::uint64_t bytes)
      : path_{folder / ("feedline-bench-storage-" + std::to_string(::getpid()))}, bytes_{bytes} {
    std::mt19937_64 random{1};
    std::vector<std::uint64_t> piece((std::size_t{1} << 20) / sizeof(std::uint64_t));
    for (std::uint64_t& word : piece) word = random();
    std::ofstream file{path_, std::ios::binary};
    for (std::uint64_t at = 0; at < bytes; at += std::uint64_t{1} << 20) {
      piece[0] = at;
      file.write(reinterpret_cast<const char*>(piece.data()), std::streamsize{1} << 20);
    }
    if (!file.flush()) throw std::runtime_error{"cannot write " + path_.string()};
  }
  rows_file(const rows_file&) = delete;
  rows_file& operator=(const rows_file&) = delete;
  ~rows_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] dataset_ptr open(std::size_t row_bytes, detail::file_access how) const {
    const detail::row_place place{.offset = 0, .stride = row_bytes, .row_bytes = row_bytes};
    auto rows = std::make_shared<const detail::file_rows>(
        std::make_shared<const detail::local_file>(path_, how), "row", place, bytes_ / row_bytes);
    return detail::make_rows_dataset("file dataset",
                                     {{{"row", element_type::u8, {row_bytes}}, std::move(rows)}});
  }

  /// The same rows in RAM.
  [[nodiscard]] dataset_ptr load(std::size_t row_bytes) const {
    const detail::row_storage rows{bytes_ / row_bytes * row_bytes};
    std::ifstream file{path_, std::ios::binary};
    if (!file.read(reinterpret_cast<char*>(rows.bytes().data()),
                   static_cast<std::streamsize>(rows.bytes().size())))
      throw std::runtime_error{"cannot read " + path_.string()};
    return make_memory_dataset(
        {{{"row", element_type::u8, {row_bytes}}, rows.bytes(), rows.owner()}});
  }

  /// Drops the file from memory. @return Share that stayed, 0 to 1.
  double drop() const { return test::drop_from_memory(path_); }

  /// Into memory from the disk, from the beginning to the end, which leaves it there in large
  /// pieces.
  void read_through() const {
    (void)drop();
    std::vector<char> piece(std::size_t{1} << 20);
    std::ifstream file{path_, std::ios::binary};
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size()))) {
    }
  }

 private:
  std::filesystem::path path_;
  std::uint64_t bytes_;
};

/// Rows a second that a loader delivers, shuffled: from a new one's start, or once it runs.
double rows_per_second(const dataset_ptr& data, int readers, double seconds, bool from_start) {
  const std::size_t row_bytes = sample_bytes(data->fields().front());
  loader loader{data,
                shuffle{.seed = 1},
                make_host_device(),
                {.batch_size = row_bytes < 65'536 ? 256U : 32U, .readers = readers}};
  std::uint64_t rows = 0;
  auto start = clock_type::now();
  bool begun = from_start;
  for (std::uint64_t epoch = 0;; ++epoch) {
    auto range = loader.epoch(epoch);
    while (const auto batch = range.next()) {
      rows += batch->size();
      const double passed = seconds_since(start);
      if (!begun && passed > seconds / 4) {  // warm: pages are mapped, threads are awake
        begun = true;
        rows = 0;
        start = clock_type::now();
      } else if (begun && passed > seconds) {
        return static_cast<double>(rows) / passed;
      }
    }
    if (from_start) return static_cast<double>(rows) / seconds_since(start);  // all is warm now
  }
}

class storage_bench {
 public:
  storage_bench(const storage_options& options, results& found)
      : options_{options}, found_{found}, file_{options.folder, options.mebibytes << 20} {}

  void measure(std::size_t row_bytes) {
    using access = detail::file_access;
    std::printf("\nrows of %zu bytes, thousands a second\n%-30s", row_bytes, "readers");
    for (const int readers : options_.readers) std::printf(" %10d", readers);
    std::printf("\n");
    const auto warm = [&](const char* name, const dataset_ptr& data) {
      line(name, row_bytes, [&](int readers) {
        return median_of(options_.common.runs, [&] {
          return rows_per_second(data, readers, options_.common.seconds, false);
        });
      });
    };
    const auto cold = [&](const char* name, bool hints) {
      line(name, row_bytes, [&](int readers) -> std::optional<double> {
        if (file_.drop() > 0.02) return std::nullopt;
        dataset_ptr data = file_.open(row_bytes, access::automatic);
        if (!hints) data = std::make_shared<const unhinted>(data);
        return rows_per_second(data, readers, 10 * options_.common.seconds, true);
      });
    };
    cold("file, cold", true);
    cold("file, cold, no hints", false);
    cold_by_hand("by hand, cold: pread", row_bytes, by_hand::pread);
    cold_by_hand("by hand, cold: hints, pread", row_bytes, by_hand::hints_and_pread);
    file_.read_through();
    warm("rows in RAM", file_.load(row_bytes));
    warm("file, warm, mapped", file_.open(row_bytes, access::mapped));
    warm("file, warm, pread", file_.open(row_bytes, access::by_calls));
  }

 private:
  void cold_by_hand(const char* name, std::size_t row_bytes, by_hand way) {
    line(name, row_bytes, [&](int threads) -> std::optional<double> {
      if (file_.drop() > 0.02) return std::nullopt;
      return rows_by_hand(file_.path(), row_bytes, way, threads, 10 * options_.common.seconds);
    });
  }

  template <class Rate>
  void line(const char* name, std::size_t row_bytes, const Rate& rate) {
    std::printf("%-30s", name);
    for (const int readers : options_.readers) {
      const std::optional<double> rows = rate(readers);
      if (!rows) {
        std::printf(" %10s", "not cold");
        continue;
      }
      std::printf(" %10.1f", *rows / 1e3);
      std::fflush(stdout);
      found_.add({{"source", name},
                  {"row_bytes", row_bytes},
                  {"readers", readers},
                  {"rows_per_second", *rows}});
    }
    std::printf("\n");
  }

  const storage_options& options_;
  results& found_;
  rows_file file_;
};

void describe(const storage_options& options) {
  utsname system{};
  (void)::uname(&system);
  std::printf("%s, %u hardware threads; %s %s\n", processor().c_str(),
              std::thread::hardware_concurrency(), system.sysname, system.release);
  std::printf(
      "a file of %llu MiB in %s; shuffled, batches of 256 rows (32 of the largest), through a "
      "loader\n"
      "on the host device. Warm: the file was read from beginning to end, medians of %d runs of %g "
      "s.\n"
      "Cold: dropped from memory (fsync, POSIX_FADV_DONTNEED), one run of at most %g s or an "
      "epoch.\n",
      static_cast<unsigned long long>(options.mebibytes), options.folder.c_str(),
      options.common.runs, options.common.seconds, 10 * options.common.seconds);
}

}  // namespace
}  // namespace feedline::bench

int main(int argc, char* argv[]) {
  using namespace feedline::bench;
  feedline::test::command_line line{
      "Rows read at random out of files, warm and cold, beside the same rows in RAM"};
  storage_options options;
  add_common_options(line, options.common);
  line.add_option("--folder", options.folder,
                  "where the file is made; decides what disk is measured");
  line.add_option("--mebibytes", options.mebibytes,
                  "size of the file; less than the memory there is")
      .between(64U, 1U << 24);
  line.add_option("--readers", options.readers, "numbers of reader threads");
  return run_program(
      line, argc, argv, [] { return true; },
      [&] {
        const int most = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        if (options.readers.empty())
          for (int readers = 1; readers <= most; readers *= 2) options.readers.push_back(readers);
        describe(options);
        results found{"storage"};
        storage_bench bench{options, found};
        for (const std::size_t row_bytes : {784U, 3072U, 150'528U}) bench.measure(row_bytes);
        found.write(options.common.json);
      });
}
