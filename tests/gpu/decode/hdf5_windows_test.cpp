/// Windows of arrays whose chunks the GPU decodes, through a whole loader: batches beside those of
/// readers.

#include <feedline/arrays/windows.hpp>
#include <feedline/hdf5/arrays.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/decode/decoded_epochs.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr hsize_t extent = 40;  // chunks of 16, 12 and 10 cut it unevenly

/// A volume of u16, shuffled and deflated, with a checksum, and its mask of u8, deflated.
std::filesystem::path write_volumes(const std::filesystem::path& path) {
  hdf5_writer file{path};
  const std::vector<hsize_t> shape{4, extent, extent, extent};
  std::vector<std::uint16_t> scan(4 * extent * extent * extent);
  for (std::size_t i = 0; i < scan.size(); ++i)
    scan[i] = static_cast<std::uint16_t>(i / 7 + i % extent * 3);
  file.write("scan", H5T_STD_U16LE, shape, H5T_NATIVE_UINT16, scan.data(),
             chunked("filtered", {1, 16, 12, 10}, [](hid_t creation) {
               require_hdf5(H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 4) >= 0 &&
                                H5Pset_fletcher32(creation) >= 0,
                            "set filters");
             }));
  std::vector<std::uint8_t> mask(scan.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<std::uint8_t>(i / 11);
  file.write("mask", H5T_STD_U8LE, shape, H5T_NATIVE_UINT8, mask.data(),
             chunked("deflated", {1, 16, 12, 10}, [](hid_t creation) {
               require_hdf5(H5Pset_deflate(creation, 4) >= 0, "set filters");
             }));
  return file.close();
}

/// Patches as "image" and "label", of which each scan gives several.
dataset_ptr patches_of(const std::filesystem::path& path, window_edges edges, std::uint64_t size,
                       window_position position = window_position::random) {
  const auto arrays = open_hdf5_arrays(path.string(), {"scan", "mask"});
  std::vector<window> windows{{.axis = 0, .keep_axis = false}};
  for (const int axis : {1, 2, 3})
    windows.push_back({.axis = axis,
                       .size = size,
                       .stride = 7,
                       .position = position,
                       .edges = axis == 2 ? edges : window_edges::drop});
  return make_windows(windows,
                      {{.name = "image", .arrays = {arrays[0]}, .pad = 9},
                       {.name = "label", .arrays = {arrays[1]}, .pad = 3}},
                      {.draws = position == window_position::random ? 30U : 1U});
}

loader_options options(decode_on who, int readers) {
  return {.batch_size = 24, .readers = readers, .decode_on = who};
}

}  // namespace

TEST_CASE("windows on the GPU: batches are those of readers", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  const auto path = write_volumes(root.path() / "volumes.h5");
  const auto edges = GENERATE(window_edges::drop, window_edges::pad, window_edges::reflect);
  const std::uint64_t size = GENERATE(1U, 8U, 13U);
  const auto position = GENERATE(window_position::random, window_position::grid);
  const dataset_ptr data = patches_of(path, edges, size, position);
  const sampler order = shuffle{.seed = 8};
  check_same(take_epochs(data, order, options(decode_on::device, 3)),
             take_epochs(data, order, options(decode_on::cpu, 4)));
}

TEST_CASE("windows on the GPU: the same with memory for few chunks", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  const dataset_ptr data =
      patches_of(write_volumes(root.path() / "volumes.h5"), window_edges::drop, 13);
  loader_options few = options(decode_on::device, 2);
  few.memory.device = std::size_t{8} << 20;
  check_same(take_epochs(data, sequential{}, few),
             take_epochs(data, sequential{}, options(decode_on::cpu, 4)));
}

TEST_CASE("windows on the GPU: ranks get their own samples", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_ranks(patches_of(write_volumes(root.path() / "volumes.h5"), window_edges::drop, 9),
              shuffle{.seed = 3});
}
