#include <feedline/dataset/hdf5_dataset.hpp>
#include <feedline/dataset/idx_dataset.hpp>

#include "support/catch.hpp"
#include "support/dataset_contract.hpp"
#include "support/idx_bytes.hpp"
#include "support/temporary_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Runs the converter (its path comes from the build). @return Its exit status, as `system` does.
int convert(const temporary_directory& folder, const std::string& arguments) {
  const auto in_folder = [&](const char* name) {
    return " '" + (folder.path() / name).string() + "'";
  };
  const std::string command = std::string{"'"} + FEEDLINE_IDX_TO_HDF5 + "' --images" +
                              in_folder("images") + " --labels" + in_folder("labels") +
                              " --output" + in_folder("out.h5") + " " + arguments + " >" +
                              in_folder("printed") + " 2>&1";
  return std::system(command.c_str());
}

std::string printed_in(const temporary_directory& folder) {
  std::ifstream file{folder.path() / "printed"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("samples: idx_to_hdf5 writes what reads back equal, plain and compressed",
          "[samples][host]") {
  const temporary_directory folder;
  folder.write("images", idx_file_bytes(0x08, {1000, 5, 3}, 15'000));
  folder.write("labels", gzip_bytes(idx_file_bytes(0x08, {1000}, 1000)));
  const auto from = open_idx(folder.path() / "images", folder.path() / "labels");
  for (const auto* arguments : {"", "--gzip 9", "--chunk-rows 7", "--chunk-rows 5000 --gzip 1"}) {
    INFO(arguments);
    REQUIRE(convert(folder, arguments) == 0);
    CHECK(printed_in(folder).find("out.h5: 1000 samples\n  image: uint8[5, 3]\n"
                                  "  label: uint8[]\n") != std::string::npos);
    check_dataset_contract(
        open_hdf5(folder.path() / "out.h5", {{"image"}, {"label"}}), 1000, from->fields(),
        [&](sample_index sample, std::size_t place) { return read_sample(*from, sample)[place]; });
  }
}

TEST_CASE("samples: idx_to_hdf5 keeps the order of bytes of wider types", "[samples][host]") {
  const temporary_directory folder;
  folder.write("images", idx_file_bytes(0x0d, {10, 2}, 80));  // float, big-endian in IDX
  folder.write("labels", idx_file_bytes(0x0b, {10}, 20));     // short
  const auto from = open_idx(folder.path() / "images", folder.path() / "labels");
  REQUIRE(convert(folder, "") == 0);
  check_dataset_contract(
      open_hdf5(folder.path() / "out.h5", {{"image"}, {"label"}}), 10, from->fields(),
      [&](sample_index sample, std::size_t place) { return read_sample(*from, sample)[place]; });
}

TEST_CASE("samples: idx_to_hdf5 says what is wrong and leaves an earlier file alone",
          "[samples][host]") {
  const temporary_directory folder;
  folder.write("images", idx_file_bytes(0x08, {4, 2}, 7));
  folder.write("labels", idx_file_bytes(0x08, {4}, 4));
  const auto earlier = bytes_of({1, 2, 3});
  folder.write("out.h5", earlier);
  CHECK(convert(folder, "") != 0);
  CHECK(printed_in(folder).starts_with("idx_to_hdf5: " + (folder.path() / "images").string()));
  CHECK(std::filesystem::file_size(folder.path() / "out.h5") == earlier.size());
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out.h5.part"));
  CHECK(convert(folder, "--gzip 10") != 0);
  CHECK(convert(folder, "--chunk-rows 0") != 0);
}
