/// Writes the seed corpus of hdf5_map: make_hdf5_map_corpus tests/fuzz/corpus/hdf5_map. One small file for each
/// kind of chunk index and each form that one can take. The files are checked in; run this after a change here.

#include "hdf5/library/chunk_lookup.hpp"
#include "hdf5/library/file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using test::indexed_dataset;

namespace {

/// An input of the fuzz target: the object header's address, then the file.
void write_seed(const std::filesystem::path& seed, const std::filesystem::path& path) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, test::indexed_name);
  const detail::random_file bytes{path};
  std::uint64_t header =
      detail::hdf5_header_address(hdf5, dataset.get(), bytes, test::indexed_name);
  std::ofstream out{seed, std::ios::binary};
  for (int i = 0; i < 8; ++i, header >>= 8) out.put(static_cast<char>(header));
  std::vector<std::byte> content(bytes.size());
  bytes.read(0, content);
  out.write(reinterpret_cast<const char*>(content.data()),
            static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error{"cannot write " + seed.string()};
}

std::vector<indexed_dataset> datasets() {
  auto all = test::datasets_of_every_index(12);
  constexpr hsize_t open = indexed_dataset::unlimited;
  all.push_back({.name = "single", .extents = {4}, .chunk = {4}});
  all.push_back({.name = "single, filtered", .extents = {4}, .chunk = {4}, .is_filtered = true});
  all.push_back(
      {.name = "nothing written", .extents = {4}, .chunk = {2}, .writes = [](std::uint64_t) {
         return false;
       }});
  all.push_back(
      {.name = "tree 1 of two levels", .extents = {80}, .chunk = {1}, .latest_format = false});
  all.push_back({.name = "fixed array in pages",
                 .extents = {1100},
                 .chunk = {1},
                 .writes = [](std::uint64_t number) { return number > 1090; }});
  all.push_back({.name = "extensible array with super blocks",
                 .extents = {300},
                 .chunk = {1},
                 .max_extents = {open},
                 .writes = [](std::uint64_t number) { return number % 29 == 1; }});
  all.push_back({.name = "extensible array in pages",
                 .extents = {150'000},
                 .chunk = {1},
                 .max_extents = {open},
                 .writes = [](std::uint64_t number) { return number == 140'000; }});
  all.push_back({.name = "tree 2 of two levels",
                 .extents = {100, 1},
                 .chunk = {1, 1},
                 .max_extents = {open, open}});
  return all;
}

void write_all(const std::filesystem::path& folder) {
  const test::temporary_directory directory;
  const auto path = directory.path() / "x.h5";
  std::filesystem::create_directories(folder);
  for (const auto& dataset : datasets()) {
    std::string name = dataset.name;
    std::erase(name, ',');
    std::ranges::replace(name, ' ', '_');
    write_seed(folder / name, test::write_indexed_file(path, dataset));
  }
  const indexed_dataset tree_1{.name = "", .extents = {8}, .chunk = {2}, .latest_format = false};
  write_seed(folder / "tree_1_user_block",
             test::write_indexed_file(path, tree_1, {.userblock = 512}));
  write_seed(folder / "tree_1_short_addresses",
             test::write_indexed_file(path, tree_1, {.offset_bytes = 4, .length_bytes = 4}));
  const indexed_dataset array{.name = "", .extents = {8}, .chunk = {2}};
  write_seed(folder / "fixed_array_short_addresses",
             test::write_indexed_file(path, array, {.offset_bytes = 4, .length_bytes = 4}));
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::fprintf(stderr, "make_hdf5_map_corpus FOLDER\n");
    return 1;
  }
  try {
    write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_hdf5_map_corpus: %s\n", error.what());
    return 1;
  }
}
