/// Writes the seed corpus of hdf5_heap: make_hdf5_heap_corpus tests/fuzz/corpus/hdf5_heap. One
/// small file for each form that rows, collections and objects can take. The files are checked in;
/// run this after a change here.

#include "hdf5/format/heap_search.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

struct seed {
  std::string name;
  std::vector<std::uint64_t> lengths;
  std::size_t element_bytes = 1;
  hdf5_writer::file_options file = {};
  bool is_backwards = false;  ///< values are written last to first
};

std::vector<std::uint64_t> repeated(std::size_t times, std::uint64_t length) {
  return std::vector<std::uint64_t>(times, length);
}

std::vector<seed> seeds() {
  return {{.name = "small", .lengths = {3, 0, 5, 2, 1}},
          {.name = "many", .lengths = repeated(200, 3)},
          {.name = "several_collections", .lengths = repeated(9, 1'500)},
          {.name = "backwards", .lengths = repeated(9, 1'500), .is_backwards = true},
          {.name = "exact_fit", .lengths = {4'064, 4'056, 4'048}},
          {.name = "large_object", .lengths = {7'000, 1}},
          {.name = "long_elements", .lengths = {1, 2, 3}, .element_bytes = 8},
          {.name = "user_block", .lengths = {4, 4}, .file = {.userblock = 512}},
          {.name = "latest_format", .lengths = {4, 4}, .file = {.latest_format = true}},
          // A file whose superblock has an extension, which would name a cache image.
          {.name = "pages", .lengths = {4, 4}, .file = {.in_pages = true}},
          {.name = "short_addresses",
           .lengths = {4, 0, 9},
           .file = {.offset_bytes = 4, .length_bytes = 4}},
          {.name = "shortest_lengths",
           .lengths = {4, 0, 9},
           .file = {.offset_bytes = 8, .length_bytes = 2}},
          {.name = "nothing", .lengths = {0, 0}}};
}

/// An input of the fuzz target.
void write_seed(const std::filesystem::path& path, const std::filesystem::path& file,
                const seed& of, std::uint64_t first_row) {
  const auto bytes = bytes_of_file(file);
  const std::size_t rows =
      of.lengths.size() * detail::hdf5_heap_search::row_bytes(of.file.offset_bytes);
  detail::hdf5_metadata metadata{bytes};
  detail::hdf5_heap_search search{metadata, of.element_bytes};
  search.add(std::span{bytes}.subspan(static_cast<std::size_t>(first_row), rows));
  require_hdf5(search.find().lengths.size() == of.lengths.size(), "be searched");  // or it throws
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  std::ofstream out{path, std::ios::binary};
  out.put(static_cast<char>(of.element_bytes - 1));
  out.put(static_cast<char>(of.lengths.size()));
  out.write(text + first_row, static_cast<std::streamsize>(rows));
  out.write(text, static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error{"cannot write " + path.string()};
}

void write_all(const std::filesystem::path& folder) {
  const temporary_directory directory;
  std::filesystem::create_directories(folder);
  for (const auto& each : seeds()) {
    hdf5_writer writer{directory.path() / "x.h5", each.file};
    const bool is_wide = each.element_bytes == 8;
    const hid_t base = is_wide ? H5T_STD_U64LE : H5T_STD_U8LE;
    const hid_t memory = is_wide ? H5T_NATIVE_UINT64 : H5T_NATIVE_UINT8;
    const auto values = various_values(each.lengths, each.element_bytes);
    const detail::hdf5_type_id type{H5Tvlen_create(base)};
    std::uint64_t first_row = 0;
    {
      const auto dataset = writer.make("x", type.get(), {values.size()});
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = each.is_backwards ? values.size() - 1 - i : i;
        write_sequence_rows(writer, dataset.get(), row, memory, {values[row]});
      }
      first_row = H5Dget_offset(dataset.get());
    }
    write_seed(folder / each.name, writer.close(), each, first_row);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::fprintf(stderr, "make_hdf5_heap_corpus FOLDER\n");
    return 1;
  }
  try {
    write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_hdf5_heap_corpus: %s\n", error.what());
    return 1;
  }
}
