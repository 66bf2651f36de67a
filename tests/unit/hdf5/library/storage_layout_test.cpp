#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t samples = 50;
constexpr std::size_t row_bytes = 12;
const extent_vector extents{samples, 3, 4};
const hdf5_options nothing_resident{.max_resident_bytes = 0};

void gzip(hid_t creation) {
  H5Pset_deflate(creation, 6);
}

std::string access_of(const fs::path& file, const std::string& dataset) {
  for (const auto& listing : list_hdf5_fields(file))
    if (listing.dataset == '/' + dataset) return listing.access;
  return "not listed";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Reads each row, last to first.
std::vector<std::byte> all_rows(const dataset& dataset) {
  std::vector<sample_index> run;
  for (std::uint64_t i = dataset.size(); i-- > 0;) run.push_back({i});
  const auto backwards = read_samples(dataset, run).front();
  const std::size_t row = backwards.size() / run.size();
  std::vector<std::byte> rows;
  for (std::size_t i = run.size(); i-- > 0;)
    rows.insert(rows.end(), backwards.begin() + static_cast<std::ptrdiff_t>(i * row),
                backwards.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
  return rows;
}

}  // namespace

TEST_CASE("hdf5: a listing tells the path of a field's rows, and why the library reads them",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "ways.h5"};
  const auto values = various_bytes(samples * row_bytes);
  const auto write = [&](const hdf5_layout& layout) {
    writer.write(layout.name, H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(), layout);
  };
  write({"contiguous"});
  write({"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }});
  write(chunked("chunks", {7, 3, 4}));
  write(chunked("deflate", {16, 3, 4}, [](hid_t creation) {
    H5Pset_shuffle(creation);
    gzip(creation);
  }));
  write(chunked("offset", {16, 3, 4}, [](hid_t creation) { H5Pset_nbit(creation); }));
  (void)writer.make("unwritten", H5T_STD_U8LE, extents);
  const auto file = writer.close();
  CHECK(access_of(file, "contiguous") == "contiguous");
  CHECK(access_of(file, "compact") ==
        "through the HDF5 library: its values lie within its header (compact layout)");
  CHECK(access_of(file, "chunks") == "chunks of 7 samples");
  CHECK(access_of(file, "deflate") == "chunks of 16 samples, shuffle, deflate");
  CHECK(access_of(file, "offset") ==
        "through the HDF5 library: filter 5 (nbit) is not one that feedline decodes");
  CHECK(access_of(file, "unwritten") == "never written");
}

TEST_CASE("hdf5: fields that the library must read are logged once, unless they were read whole",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "library.h5"};
  const auto values = various_bytes(samples * row_bytes);
  writer.write("x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(),
               chunked("", {16, 3, 4}, [](hid_t creation) { H5Pset_nbit(creation); }));
  const auto file = writer.close();
  {
    const log_capture log;
    CHECK(all_rows(*open_hdf5(file, {{"x"}})) == values);
    CHECK(log.text().empty());
  }
  const log_capture log;
  const auto opened = open_hdf5(file, {{"x"}}, nothing_resident);
  CHECK(all_rows(*opened) == values);
  CHECK(all_rows(*opened) == values);
  CHECK(log.text() == file.string() +
                          ": field 'x' is read through the HDF5 library, one thread at a time: "
                          "filter 5 (nbit) is not one that feedline decodes\n");
}

TEST_CASE("hdf5: a dataset of far more chunks than its file could hold is left to the library",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "claims.h5"};
  constexpr std::uint64_t claimed = std::uint64_t{1} << 33;
  const unsigned char five = 5;
  (void)writer.make("x", H5T_STD_U8LE, {claimed}, chunked("", {2}, [&](hid_t creation) {
                      H5Pset_fill_value(creation, H5T_NATIVE_UINT8, &five);
                    }));
  const auto file = writer.close();
  const log_capture log;
  const auto opened = open_hdf5(file, {{"x"}}, {.max_host_cache_bytes = 1 << 20});
  CHECK(opened->size() == claimed);
  for (const std::uint64_t sample : {std::uint64_t{0}, claimed - 1})
    CHECK(read_sample(*opened, sample_index{sample}).front() == std::vector{std::byte{5}});
  CHECK(contains(log.text(), "field 'x' is read through the HDF5 library, one thread at a time: "));
}

TEST_CASE("hdf5: a file that this program writes to is read through the library",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "written.h5"};
  const auto values = various_bytes(samples * row_bytes);
  writer.write("x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data());
  const auto file = writer.close();
  const detail::hdf5_file_id open_for_writing{H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)};
  CHECK(contains(access_of(file, "x"),
                 "through the HDF5 library: its file is open for writing in this program"));
  CHECK(all_rows(*open_hdf5(file, {{"x"}}, nothing_resident)) == values);
}

TEST_CASE("hdf5: fields that were read whole at opening give their rows in memory",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "rows.h5"};
  const auto values = various_bytes(samples * row_bytes);
  writer.write("x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(),
               chunked("", {7, 3, 4}, gzip));
  writer.write("y", H5T_STD_U8LE, {samples}, H5T_NATIVE_UINT8, values.data());
  const auto file = writer.close();
  const auto opened = open_hdf5(file, {{"x"}, {"y"}});
  const auto rows = opened->rows();
  REQUIRE(rows.size() == 2);
  CHECK(std::vector<std::byte>(rows[0].begin(), rows[0].end()) == values);
  CHECK(std::vector<std::byte>(rows[1].begin(), rows[1].end()) ==
        std::vector<std::byte>(values.begin(), values.begin() + samples));
  // With room for the labels alone, the images are not in memory, and so not all fields are.
  CHECK(open_hdf5(file, {{"x"}, {"y"}}, {.max_resident_bytes = samples})->rows().empty());
}

TEST_CASE("hdf5: chunks that are decoded whole are logged, with the number that is kept",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "chunks.h5"};
  const auto values = various_bytes(samples * row_bytes);
  const auto write = [&](const hdf5_layout& layout) {
    writer.write(layout.name, H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(), layout);
  };
  write({"contiguous"});
  write(chunked("raw", {7, 3, 4}));
  write(chunked("deflate", {7, 3, 4}, gzip));
  write(chunked("one", {1, 3, 4}, gzip));
  write(chunked("split", {5, 2, 4}));
  const auto file = writer.close();
  const auto chunks_of = [&](const std::string& name, std::size_t cache) {
    return open_hdf5(file, {{name}}, {.max_host_cache_bytes = cache, .max_resident_bytes = 0})
        ->chunks();
  };
  CHECK(chunks_of("contiguous", 0) == chunking{});
  CHECK(chunks_of("raw", 0) == chunking{});
  CHECK(chunks_of("one", 0) == chunking{});
  // A chunk is kept in whole cache lines, and takes 16 bytes in lists; the list of all, 4 bytes
  // each.
  CHECK(chunks_of("deflate", 0) == chunking{.samples = 7, .bytes = 84, .kept = 8});
  CHECK(chunks_of("deflate", 6 * (128 + 16) + 8 * 4) ==
        chunking{.samples = 7, .bytes = 84, .kept = 6});
  CHECK(chunks_of("deflate", 1) == chunking{.samples = 7, .bytes = 84, .kept = 4});
  CHECK(chunks_of("split", 5 * (64 + 16) + 10 * 4) ==
        chunking{.samples = 5, .bytes = 60, .kept = 5});
}

TEST_CASE("hdf5: a file that is cut, or written to, after it was opened ends in an error",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "cut.h5"};
  const auto values = various_bytes(std::size_t{1000} * 4096);
  const auto layout = GENERATE(hdf5_layout{"contiguous"}, chunked("chunks", {10, 4096}),
                               chunked("deflate", {10, 4096}, gzip));
  writer.write("x", H5T_STD_U8LE, {1000, 4096}, H5T_NATIVE_UINT8, values.data(), layout);
  const auto file = writer.close();
  INFO(layout.name);
  const auto opened = open_hdf5(file, {{"x"}}, nothing_resident);
  (void)read_sample(*opened, sample_index{0});
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto message =
      message_of<dataset_error>([&] { (void)read_sample(*opened, sample_index{999}); });
  INFO(message);
  CHECK(contains(message, file.string()));
}

TEST_CASE("hdf5: the pieces of a family of files are refused, not guessed at", "[dataset][host]") {
  const temporary_directory folder;
  const detail::hdf5_properties_id family{H5Pcreate(H5P_FILE_ACCESS)};
  require_hdf5(H5Pset_fapl_family(family.get(), 2048, H5P_DEFAULT) >= 0, "choose the driver");
  const auto path = folder.path() / "part%d.h5";
  const auto values = various_bytes(samples * row_bytes);
  {
    const detail::hdf5_file_id file{
        H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, family.get())};
    const detail::hdf5_space_id space{H5Screate_simple(3, extents.data(), nullptr)};
    const detail::hdf5_dataset_id made{H5Dcreate2(file.get(), "x", H5T_STD_U8LE, space.get(),
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
    require_hdf5(
        H5Dwrite(made.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
        "write");
  }
  // There is no telling the driver from the name: the pieces are refused as what they are.
  CHECK_THROWS_AS(open_hdf5(path, {{"x"}}), hdf5_error);
  CHECK_THROWS_AS(open_hdf5(folder.path() / "part0.h5", {{"x"}}), hdf5_error);
}
