/// HDF5 files that are stored elsewhere than on this machine. What is read without the library is
/// in `pipeline/other_storage_test`.

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/virtual_file.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr hdf5_options nothing_resident{.max_resident_bytes = 0};

}  // namespace

TEST_CASE("hdf5, other storage: the library reads through it, and a failed read names the file",
          "[dataset][host]") {
  const log_capture log;
  const mounted_standin storage;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto bytes = numbered(40 * 50);
  writer.write("x", H5T_STD_U8LE, {40, 50}, H5T_NATIVE_UINT8, bytes.data(),
               chunked("", {10, 50}, [](hid_t creation) { H5Pset_nbit(creation); }));
  const std::string address = mounted_standin::address_of(writer.close());
  const auto opened = open_hdf5(address, {{"x"}}, nothing_resident);
  CHECK(contains(log.text(), "is read through the HDF5 library"));
  for (const std::uint64_t sample : {0U, 17U, 39U})
    CHECK(read_sample(*opened, {sample}).front() ==
          std::vector<std::byte>(bytes.begin() + static_cast<std::ptrdiff_t>(50 * sample),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(50 * sample + 50)));

  const auto again = open_hdf5(address, {{"x"}}, nothing_resident);
  storage->set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = part.offset},
                        "the storage does not answer"};
  });
  const std::string message =
      message_of<hdf5_error>([&] { (void)read_sample(*again, {sample_index{25}}); });
  INFO(message);
  CHECK(contains(message, address));
  CHECK(contains(message, "the storage does not answer"));
  storage->set_hook({});
  CHECK(read_sample(*again, {25}).front().front() == bytes[25 * 50]);
}

TEST_CASE("hdf5, other storage: values of variable length are read by one call",
          "[dataset][host]") {
  const mounted_standin storage;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto values = various_values({3, 0, 5000, 7, 1}, 1);
  write_sequences(writer, "x", H5T_STD_U8LE, H5T_NATIVE_UINT8, values);
  const auto file = writer.close();
  const auto opened =
      open_hdf5_ragged(mounted_standin::address_of(file), {"x"}, {.max_resident_bytes = 0});
  CHECK(values_of(*opened) == values_by_library(file, "x"));
  std::vector<std::vector<std::byte>> out;
  std::vector<element_run> runs;
  for (const std::uint64_t sample : {4U, 2U, 0U}) {
    out.emplace_back(values[sample].size());
    runs.push_back({{sample}, 0, out.back()});
  }
  (void)storage->take_calls();
  opened->read(runs);
  CHECK(storage->take_calls().size() == 1);
  CHECK(out == value_vector{values[4], values[2], values[0]});
}

TEST_CASE(
    "hdf5, other storage: files that a file needs are read from its folder there, and a local one "
    "is refused",
    "[dataset][host]") {
  const mounted_standin storage;
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(2)};
  const auto opened = open_hdf5(mounted_standin::address_of(made.path), {{"x"}}, nothing_resident);
  CHECK(read_numbers(*opened, 0, made.samples) == numbers(0, made.samples));

  const auto open_link = [&](const std::string& target) {
    hdf5_writer linking{folder.path() / "link.h5"};
    linking.make_external_link(target, "/x", "x");
    return open_hdf5(mounted_standin::address_of(linking.close()), {{"x"}});
  };
  CHECK(read_numbers(*open_link("s0001.h5"), 0, 4) == numbers(4, 4));
  CHECK(contains(
      message_of<hdf5_error>([&] { (void)open_link(made.sources[0]); }),
      "leads to " + made.sources[0].string() + ", which lies outside the folder of the HDF5 file"));
  const std::string missing = message_of<hdf5_error>([&] { (void)open_link("nowhere.h5"); });
  INFO(missing);
  CHECK(contains(missing, "'nowhere.h5'"));
}

TEST_CASE("hdf5: a link out of a file that this program writes to is refused", "[dataset][host]") {
  const temporary_directory folder;
  write_numbers(folder.path() / "target.h5", 0, 4);
  hdf5_writer writer{folder.path() / "link.h5"};
  writer.make_external_link("target.h5", "/x", "x");
  const auto file = writer.close();
  const detail::hdf5_file_id open_for_writing{H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)};
  const std::string target = folder.path() / "target.h5";
  CHECK(message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); }) ==
        file.string() + ": field 'x': lies in " + target +
            ", which cannot be watched for changes, because this program has the file that leads "
            "there "
            "open for writing; close it there, or open that file itself");
  CHECK(read_numbers(*open_hdf5(target, {{"x"}}), 0, 4) == numbers(0, 4));
}
