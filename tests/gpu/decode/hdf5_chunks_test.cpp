/// Chunks of HDF5 decoded by the GPU, through a whole loader: batches beside those of readers.

#include <feedline/hdf5/dataset.hpp>
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
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr hsize_t rows = 5000;  // rows of 28 x 28 values, in chunks of 60: the last one is short
constexpr hsize_t rows_per_chunk = 60;

/// Images in chunks that are shuffled and deflated, with a checksum; labels as they are.
std::filesystem::path write_rows(const std::filesystem::path& path) {
  hdf5_writer file{path};
  std::vector<std::uint16_t> images(rows * 28 * 28);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i] = static_cast<std::uint16_t>(i / 784 * 7 + i % 784 / 16);
  std::vector<std::uint8_t> labels(rows);
  for (std::size_t i = 0; i < rows; ++i) labels[i] = static_cast<std::uint8_t>(i % 251);
  file.write("image", H5T_STD_U16LE, {rows, 28, 28}, H5T_NATIVE_UINT16, images.data(),
             chunked("deflated", {rows_per_chunk, 28, 28}, [](hid_t creation) {
               require_hdf5(H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 4) >= 0 &&
                                H5Pset_fletcher32(creation) >= 0,
                            "set filters");
             }));
  file.write("label", H5T_STD_U8LE, {rows}, H5T_NATIVE_UINT8, labels.data());
  return file.close();
}

/// The rows are small, but stay as stored.
dataset_ptr open_rows(const std::filesystem::path& path) {
  return open_hdf5(path.string(), {{"image"}, {"label"}}, {.max_resident_bytes = 0});
}

loader_options options(decode_on who, int readers) {
  return {.batch_size = 48, .readers = readers, .decode_on = who};
}

sampler in_windows() {
  return shuffle{.seed = 8, .within = feedline::chunks(9)};
}

}  // namespace

TEST_CASE("hdf5 chunks on the GPU: batches are those of readers", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  const dataset_ptr data = open_rows(write_rows(root.path() / "rows.h5"));
  const int readers = GENERATE(0, 3);
  for (const sampler& order : {in_windows(), sampler{sequential{}}}) {
    const delivered_epochs seen = take_epochs(data, order, options(decode_on::device, readers));
    CHECK(seen.error.empty());
    check_same(seen, take_epochs(data, order, options(decode_on::cpu, 4)));
  }
}

TEST_CASE("hdf5 chunks on the GPU: ranks get their own samples, each on a GPU where there are two",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_ranks(open_rows(write_rows(root.path() / "rows.h5")), in_windows());
}
