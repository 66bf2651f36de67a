#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/filter_cases.hpp"
#include "support/hdf5/stored_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

struct filter_setting {
  std::string name;
  std::function<void(hid_t creation)> apply;
};

void set(bool succeeded) {
  require_hdf5(succeeded, "set a filter");
}

/// The library's own filters, alone and as people stack them.
std::vector<filter_setting> library_filters() {
  std::vector<filter_setting> settings{
      {"deflate", [](hid_t c) { set(H5Pset_deflate(c, 6) >= 0); }},
      {"shuffle, deflate",
       [](hid_t c) { set(H5Pset_shuffle(c) >= 0 && H5Pset_deflate(c, 1) >= 0); }},
      {"fletcher32", [](hid_t c) { set(H5Pset_fletcher32(c) >= 0); }},
      {"shuffle, deflate, fletcher32",
       [](hid_t c) {
         set(H5Pset_shuffle(c) >= 0 && H5Pset_deflate(c, 9) >= 0 && H5Pset_fletcher32(c) >= 0);
       }},
      {"fletcher32, shuffle, deflate", [](hid_t c) {
         set(H5Pset_fletcher32(c) >= 0 && H5Pset_shuffle(c) >= 0 && H5Pset_deflate(c, 4) >= 0);
       }}};
  unsigned config = 0;
  if (has_szip && H5Zfilter_avail(H5Z_FILTER_SZIP) > 0 &&
      H5Zget_filter_info(H5Z_FILTER_SZIP, &config) >= 0 &&
      (config & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0) {
    settings.push_back({"szip, nearest neighbour",
                        [](hid_t c) { set(H5Pset_szip(c, H5_SZIP_NN_OPTION_MASK, 16) >= 0); }});
    settings.push_back(
        {"szip, entropy", [](hid_t c) { set(H5Pset_szip(c, H5_SZIP_EC_OPTION_MASK, 8) >= 0); }});
    settings.push_back({"shuffle, szip, fletcher32", [](hid_t c) {
                          set(H5Pset_shuffle(c) >= 0 &&
                              H5Pset_szip(c, H5_SZIP_NN_OPTION_MASK, 32) >= 0 &&
                              H5Pset_fletcher32(c) >= 0);
                        }});
  }
  return settings;
}

/// Elements of a dataset that counts from 0.
bytes counted(hid_t type, std::size_t count) {
  bytes values(count * std::max(sizeof(double), H5Tget_size(type)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(i);
    std::memcpy(values.data() + i * sizeof value, &value, sizeof value);
  }
  require_hdf5(H5Tconvert(H5T_NATIVE_DOUBLE, type, count, values.data(), nullptr, H5P_DEFAULT) >= 0,
               "convert numbers");
  values.resize(count * H5Tget_size(type));
  return values;
}

}  // namespace

TEST_CASE("hdf5 filters: chunks written by the HDF5 library decode to the written values",
          "[dataset][host]") {
  const std::vector<hid_t> types{H5T_STD_U8LE, H5T_STD_I16BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE};
  const extent_vector extents{50, 28, 11};
  const temporary_directory folder;
  for (const filter_setting& setting : library_filters())
    for (const hid_t type : types)
      for (const extent_vector& chunk :
           {extent_vector{16, 28, 11}, extent_vector{7, 10, 11}, extent_vector{50, 3, 4}})
        for (const content& kind : contents()) {
          const bytes values = kind.make(50 * 28 * 11 * H5Tget_size(type));
          hdf5_writer writer{folder.path() / "file.h5"};
          writer.write("x", type, extents, type, values.data(),
                       chunked(setting.name, chunk, setting.apply));
          const detail::hdf5_dataset_id dataset{H5Dopen2(writer.id(), "x", H5P_DEFAULT)};
          require_hdf5(H5Dflush(dataset.get()) >= 0, "flush");
          const stored_dataset stored = read_stored(dataset.get());
          INFO(setting.name << ", elements of " << stored.element << ", " << stored.chunks.size()
                            << " chunks of " << chunk[0] << " rows, " << kind.name);
          CHECK(decode_all(stored) == values);
        }
}

// Files of the jHDF project, made by h5py and the filters' own plugins; their datasets count from
// 0.
TEST_CASE("hdf5 filters: chunks of other programs' files decode to their values",
          "[dataset][host]") {
  const auto folder = find_test_data("hdf5/jhdf");
  if (!folder)
    FEEDLINE_SKIP("no jHDF files: name the folder above hdf5/jhdf in FEEDLINE_TEST_DATA");
  const auto [name, count] = GENERATE(
      std::pair<std::string, std::size_t>{"lz4_datasets.hdf5", 20},
      std::pair<std::string, std::size_t>{"bitshuffle_datasets.hdf5", 40},
      std::pair<std::string, std::size_t>{"fletcher32_datasets_earliest.hdf5", 5},
      std::pair<std::string, std::size_t>{"fletcher32_datasets_latest.hdf5", 5},
      std::pair<std::string, std::size_t>{"test_byteshuffle_compressed_datasets_earliest.hdf5", 5},
      std::pair<std::string, std::size_t>{"test_compressed_chunked_datasets_earliest.hdf5", 10},
      std::pair<std::string, std::size_t>{"test_compressed_chunked_datasets_latest.hdf5", 10});
  const detail::hdf5_file_id file{H5Fopen((*folder / name).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
  REQUIRE(static_cast<bool>(file));
  const auto datasets = filtered_datasets(file.get());
  INFO(name);
  CHECK(datasets.size() == count);
  for (const std::string& each : datasets) {
    const detail::hdf5_dataset_id dataset{H5Dopen2(file.get(), each.c_str(), H5P_DEFAULT)};
    const detail::hdf5_type_id type{H5Dget_type(dataset.get())};
    const stored_dataset stored = read_stored(dataset.get());
    const detail::hdf5_filters filters{stored.pipeline};
    INFO(each << ", " << filters.describe() << ", refused: " << filters.refusal());
    if (!filters.refusal().empty()) {
      CHECK(filters.refusal().find("not there when feedline was built") != std::string::npos);
      continue;
    }
    const bytes all = decode_all(stored);
    CHECK(all == counted(type.get(), all.size() / stored.element));
  }
}
