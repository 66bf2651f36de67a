/// How long it takes to find all chunks of an HDF5 dataset: feedline_bench_hdf5_map --chunks 1000000.
///
/// Writes a file for each kind of chunk index, in turn, into a temporary directory, and maps it: from the index
/// as it is in memory, as it is read, as it is read from the disk (the file dropped from memory before; "nan" where
/// the file system does not drop it), and chunk by chunk from the library. Best of three, in milliseconds.

#include "bench/processor.hpp"
#include "detail/log.hpp"
#include "hdf5/format/cursor.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "support/files/cold_file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

using namespace feedline;

namespace {

/// @return Milliseconds. @param why_asked As of `map_hdf5_chunks`.
double time_once(const std::filesystem::path& path, detail::random_file::access access,
                 const detail::hdf5_index_parser& parse, std::string& why_asked) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, test::indexed_name);
  const detail::random_file bytes{path, access};
  const auto begin = std::chrono::steady_clock::now();
  (void)detail::map_hdf5_chunks(hdf5, dataset.get(), bytes, test::indexed_name, parse, &why_asked);
  return std::chrono::duration<double, std::milli>{std::chrono::steady_clock::now() - begin}
      .count();
}

enum class begins { in_memory, on_disk };

double best_of_three(const std::filesystem::path& path, detail::random_file::access access,
                     const detail::hdf5_index_parser& parse, begins where = begins::in_memory,
                     bool may_ask = false) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    if (where == begins::on_disk && test::drop_from_memory(path) > 0.02) return std::nan("");
    std::string why_asked;
    best = std::min(best, time_once(path, access, parse, why_asked));
    if (!may_ask && !why_asked.empty()) throw std::runtime_error{why_asked};
  }
  return best;
}

void refuse(const detail::random_file& /*file*/, std::uint64_t /*header*/,
            detail::hdf5_chunk_map& /*map*/) {
  throw detail::hdf5_metadata_error{"not looked at"};
}

void run(std::uint64_t chunks) {
  using access = detail::random_file::access;
  const test::temporary_directory directory;
  detail::log()->set_level(spdlog::level::warn);  // that the library is asked is no news here
  std::printf("%s, %u hardware threads; %s; %llu chunks; milliseconds, best of three\n",
              bench::processor().c_str(), std::thread::hardware_concurrency(), H5_VERS_INFO,
              static_cast<unsigned long long>(chunks));
  std::printf("%-52s %10s %10s %10s %10s\n", "index", "mapped", "read", "from disk", "library");
  for (auto dataset : test::datasets_of_every_index(chunks)) {
    if (dataset.is_filtered && dataset.extents.size() == 3) continue;
    dataset.writes = [](std::uint64_t number) { return number % 97 != 5; };  // some are not there
    const auto path = test::write_indexed_file(directory.path() / "x.h5", dataset);
    std::printf("%-52s %10.1f %10.1f %10.1f %10.1f\n", dataset.name.c_str(),
                best_of_three(path, access::mapped, detail::parse_hdf5_index),
                best_of_three(path, access::by_pread, detail::parse_hdf5_index),
                best_of_three(path, access::automatic, detail::parse_hdf5_index, begins::on_disk),
                best_of_three(path, access::mapped, refuse, begins::in_memory, true));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  std::uint64_t chunks = 1'000'000;
  CLI::App app{"How long it takes to find all chunks of an HDF5 dataset"};
  app.add_option("--chunks", chunks, "of each dataset; default: a million")
      ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{100'000'000}));
  CLI11_PARSE(app, argc, argv);
  try {
    run(chunks);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline_bench_hdf5_map: %s\n", error.what());
    return 1;
  }
}
