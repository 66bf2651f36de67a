#include <feedline/error.hpp>
#include <feedline/formats/numbers.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zip_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::string refusal(const std::string& file, const std::string& name = {}) {
  return message_of<dataset_error>([&] { (void)read_numbers(file, name); });
}

}  // namespace

// tests/python/datasets/test_windows.py reads NetCDF4 and Zarr, which h5py and xarray write.
TEST_CASE("numbers: arrays of NumPy are read row-major, whatever their type and shape",
          "[formats][host]") {
  const temporary_directory folder;
  const auto mean = folder.write(
      "mean.npy", npy_bytes(npy_dictionary("<f4", "(1, 3, 1)"), memory_of<float>({1.5F, -2, 8})));
  CHECK(read_numbers(mean.string()) == std::vector<double>{1.5, -2, 8});
  const auto fortran = folder.write(
      "fortran.npy",
      npy_bytes(npy_dictionary("<i2", "(2, 2)", true), memory_of<std::int16_t>({1, 2, 3, 4})));
  CHECK(read_numbers(fortran.string()) == std::vector<double>{1, 3, 2, 4});
#ifdef FEEDLINE_TEST_NPZ
  const auto single = memory_of<double>({280.25});
  for (const bool compressed : {false, true}) {
    const auto both = folder.write(
        "both.npz",
        zip_bytes({{"mean.npy", npy_bytes(npy_dictionary("<f8", "()"), single), compressed},
                   {"std.npy", npy_bytes(npy_dictionary("<f8", "(1,)"), single), compressed}}));
    CHECK(read_numbers(both.string(), "mean") == std::vector<double>{280.25});
    CHECK(read_numbers(both.string(), "std") == std::vector<double>{280.25});
    CHECK(contains(refusal(both.string(), "none"), "has no member 'none'; there are: mean, std"));
  }
#endif
  const auto empty =
      folder.write("empty.npy", npy_bytes(npy_dictionary("<f8", "(0, 2)"), byte_vector{}));
  CHECK(contains(refusal(empty.string()), "holds no values"));
  const auto flags =
      folder.write("flags.npy", npy_bytes(npy_dictionary("|b1", "(2,)"), byte_vector(2)));
  CHECK(contains(refusal(flags.string()), "holds booleans, not numbers"));
}

#ifdef FEEDLINE_TEST_JSON
TEST_CASE("numbers: keys lead to a number or a list in JSON", "[formats][host]") {
  const temporary_directory folder;
  const auto write = [&](const std::string& text) {
    return folder.write("stats.json", std::as_bytes(std::span{text})).string();
  };
  const auto file = write(
      "  {\"t2m\": {\"mean\": 280.5, \"std\": [[1, 2.5], [3]]},\n"
      "   \"on\": true, \"name\": \"x\", \"none\": null}");
  CHECK(read_numbers(file, "t2m/mean") == std::vector<double>{280.5});
  CHECK(read_numbers(file, "t2m/std") == std::vector<double>{1, 2.5, 3});
  CHECK(contains(refusal(file, "t2m/stddev"), "there is no key 'stddev'; there are: mean, std"));
  CHECK(contains(refusal(file, "t2m/mean/x"), "there is no key 'x'; there are none"));
  CHECK(contains(refusal(file, "t2m"), "JSON object, whose keys follow in the name"));
  CHECK(contains(refusal(file, "on"), "JSON boolean"));
  CHECK(contains(refusal(file, "none"), "JSON null"));
  CHECK(contains(refusal(write("{\"mean\": NaN}"), "mean"), "is no valid JSON"));
  CHECK(contains(refusal(write("{\"mean\": 1"), "mean"), "is no valid JSON"));
  CHECK(contains(refusal(write(std::string(70, '[') + std::string(70, ']'))), "64 levels"));
  CHECK(read_numbers(write("[1, 2,\n3]")) == std::vector<double>{1, 2, 3});
  CHECK(read_numbers(write("{\"a\": 1}\n"), "a") == std::vector<double>{1});
  // `standardize` takes none as a mean of 0 or a deviation of 1.
  CHECK(contains(refusal(write("{\"a\": [[], []]}"), "a"), "holds no number"));
}
#endif

TEST_CASE("numbers: other files are refused, with what they are", "[formats][host]") {
  const temporary_directory folder;
  const std::string text = "a,b\n1,2\n3,4\n";
  const auto table = folder.write("stats.csv", std::as_bytes(std::span{text}));
  CHECK(contains(refusal(table.string()), "not .npy, .npz, HDF5, NetCDF4, Zarr or JSON"));
}
