/// Images in an HDF5 file, values of variable length, as a device decodes them.

#include <feedline/dataset/zip.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"
#include "unit/image/decoded_images.hpp"

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Images beside their numbers. @param cut One of which the second half is missing.
std::string write_file(const std::filesystem::path& path, std::optional<std::uint32_t> cut = {}) {
  value_vector files;
  for (std::uint32_t i = 0; i < images; ++i) files.push_back(image_file(i));
  if (cut) files[*cut].resize(files[*cut].size() / 2);
  std::vector<std::int32_t> numbers(images);
  std::iota(numbers.begin(), numbers.end(), 0);
  hdf5_writer writer{path};
  write_sequences(writer, "jpeg", H5T_STD_U8LE, H5T_NATIVE_UINT8, files);
  writer.write("label", H5T_STD_I32LE, {images}, H5T_NATIVE_INT32, numbers.data());
  return writer.close().string();
}

dataset_ptr open_file(const std::string& path, const image_options& how = small) {
  return zip({decode(open_hdf5_ragged(path, {"jpeg"}), make_image_decoder(how)),
              open_hdf5(path, {{"label"}})});
}

}  // namespace

TEST_CASE("HDF5 images: values that devices take come as they are, others as rows",
          "[dataset][host]") {
  const temporary_directory folder;
  const dataset_ptr data = open_file(write_file(folder.path() / "a.h5"));
  check_encoded(*data);
  for (std::uint32_t i = 0; i < images; ++i) {
    CHECK(given(data, i).skipped == (is_for_readers(i) ? 1 : 0));
    if (!is_for_readers(i)) CHECK(stored_bytes(*data->encoded(), 0, i) == image_file(i));
  }
}

TEST_CASE("HDF5 images decoded on a device: batches and errors are those that readers make",
          "[loader][host]") {
  const temporary_directory folder;
  const loader_options options{.batch_size = 7, .readers = GENERATE(0, 3)};
  check_same(open_file(write_file(folder.path() / "a.h5")), shuffle{.seed = 4}, options);
  for (const std::uint32_t bad : {1U, 14U}) {
    const dataset_ptr data = open_file(write_file(folder.path() / "b.h5", bad));
    check_same(data, shuffle{.seed = 4}, options);
    const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, options);
    REQUIRE(seen.error);
    CHECK(contains(*seen.error, "field 'jpeg', sample " + std::to_string(bad)));
  }
}

TEST_CASE(
    "HDF5 images decoded on a device: windows and filters are those of readers, in each epoch",
    "[loader][host]") {
  const temporary_directory folder;
  const dataset_ptr data =
      open_file(write_file(folder.path() / "a.h5"), {.height = 12,
                                                     .width = 10,
                                                     .resized_crop = crop_ranges{},
                                                     .interpolation = interpolation::bicubic,
                                                     .reduced_decoding = false});
  CHECK(data->varies_by_epoch());
  const loader_options options{.batch_size = 8, .readers = GENERATE(0, 3), .seed = 9};
  check_same(data, shuffle{.seed = 4}, options, 2);
  const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, options, 2);
  CHECK(seen.fields[0] != seen.fields[seen.fields.size() / 2]);
}
