/// How long it takes to find all chunks of an HDF5 dataset: feedline_bench_hdf5_map --chunks
/// 1000000.
///
/// Writes a file for each kind of chunk index, in turn, into a temporary directory, and maps it: in
/// memory, mapped and read by calls, and from the disk (the file dropped from memory before; "nan"
/// where the file system does not drop it). Best of three, in milliseconds.

#include "bench/processor.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "io/local/file.hpp"
#include "support/command_line.hpp"
#include "support/files/cold_file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <thread>

using namespace feedline;

namespace {

/// @return Milliseconds.
double time_once(const std::filesystem::path& path, detail::file_access access) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, test::indexed_name);
  const detail::local_file bytes{path, access};
  const auto begin = std::chrono::steady_clock::now();
  (void)detail::map_hdf5_chunks(hdf5, dataset.get(), bytes, test::indexed_name);
  return std::chrono::duration<double, std::milli>{std::chrono::steady_clock::now() - begin}
      .count();
}

enum class begins { in_memory, on_disk };

double best_of_three(const std::filesystem::path& path, detail::file_access access,
                     begins where = begins::in_memory) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    if (where == begins::on_disk && test::drop_from_memory(path) > 0.02) return std::nan("");
    best = std::min(best, time_once(path, access));
  }
  return best;
}

void run(std::uint64_t chunks) {
  using access = detail::file_access;
  const test::temporary_directory directory;
  std::printf("%s, %u hardware threads; %s; %llu chunks; milliseconds, best of three\n",
              bench::processor().c_str(), std::thread::hardware_concurrency(), H5_VERS_INFO,
              static_cast<unsigned long long>(chunks));
  std::printf("%-52s %10s %10s %10s\n", "index", "mapped", "read", "from disk");
  for (auto dataset : test::datasets_of_every_index(chunks)) {
    if (dataset.is_filtered && dataset.extents.size() == 3) continue;
    dataset.writes = [](std::uint64_t number) { return number % 97 != 5; };  // some are not there
    const auto path = test::write_indexed_file(directory.path() / "x.h5", dataset);
    std::printf("%-52s %10.1f %10.1f %10.1f\n", dataset.name.c_str(),
                best_of_three(path, access::mapped), best_of_three(path, access::by_calls),
                best_of_three(path, access::automatic, begins::on_disk));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  std::uint64_t chunks = 1'000'000;
  test::command_line line{"How long it takes to find all chunks of an HDF5 dataset"};
  line.add_option("--chunks", chunks, "of each dataset")
      .between(std::uint64_t{1000}, std::uint64_t{100'000'000});
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    run(chunks);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline_bench_hdf5_map: %s\n", error.what());
    return 1;
  }
}
