#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

/// A file with datasets "image" (20 samples) and "label" (20), and "other" (21) in a group.
fs::path write_usual(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "usual.h5"};
  const auto values = various_bytes(400);
  writer.write("image", H5T_STD_U8LE, {20, 4, 4}, H5T_NATIVE_UINT8, values.data());
  writer.write("label", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  writer.make_group("group");
  writer.write("group/other", H5T_STD_U8LE, {21}, H5T_NATIVE_UINT8, values.data());
  return writer.close();
}

std::string refusal_of(const fs::path& file, std::vector<hdf5_field> fields) {
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, std::move(fields)); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("hdf5: a path that cannot be read is refused in the system's words", "[dataset][host]") {
  const temporary_directory folder;
  const auto missing = (folder.path() / "missing.h5").string();
  CHECK(refusal_of(missing, {{"x"}}) ==
        missing +
            ": cannot be opened: No such file or directory; check the path and its "
            "permissions");
  CHECK(contains(refusal_of(folder.path(), {{"x"}}), ": is a directory; name a file in it"));
  const auto pipe = folder.path() / "pipe.h5";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(refusal_of(pipe, {{"x"}}), ": is not a regular file"));
  if (::geteuid() != 0) {  // nothing is unreadable to root
    const auto file = write_usual(folder);
    fs::permissions(file, fs::perms::none);
    CHECK(contains(refusal_of(file, {{"image"}}), "Permission denied"));
  }
}

TEST_CASE("hdf5: a file of another kind is distinguished from a damaged one", "[dataset][host]") {
  const temporary_directory folder;
  const auto text = folder.write("text.h5", various_bytes(4096));
  CHECK(contains(refusal_of(text, {{"x"}}), text.string() + ": is not an HDF5 file: "));
  CHECK(contains(refusal_of(folder.write("none.h5", {}), {{"x"}}), "is not an HDF5 file: "));
}

TEST_CASE("hdf5: a file cut short anywhere is refused, or reads as if whole", "[dataset][host]") {
  const temporary_directory folder;
  const auto whole = bytes_of_file(write_usual(folder));
  const std::string last_missing_byte =
      refusal_of(folder.write("cut.h5", std::span{whole}.first(whole.size() - 1)), {{"image"}});
  CHECK(contains(last_missing_byte, "the HDF5 library cannot open it; it may be cut short"));
  CHECK(contains(last_missing_byte, "truncated file"));
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
    INFO("cut to " << bytes << " bytes of " << whole.size());
    const auto cut = folder.write("cut.h5", std::span{whole}.first(bytes));
    CHECK_THROWS_AS(open_hdf5(cut, {{"image"}, {"label"}}), hdf5_error);
  }
}

TEST_CASE("hdf5: a dataset that is not there is refused with those there are", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder);
  CHECK(refusal_of(file, {{"images"}}) ==
        file.string() +
            ": field 'images': there is no such dataset; the file has /group/other, "
            "/image, /label");
  CHECK(contains(refusal_of(file, {{"nogroup/x"}}), "there is no such dataset; the file has"));
  CHECK(contains(refusal_of(file, {{"image/x"}}), "there is no such dataset; the file has"));
  CHECK(contains(refusal_of(file, {{"group"}}), "is a group or a type, not a dataset; the file"));
  CHECK(contains(refusal_of(file, {{""}}), "is a group or a type, not a dataset; the file has"));
  CHECK(contains(refusal_of(hdf5_writer{folder.path() / "none.h5"}.close(), {{"x"}}),
                 "there is no such dataset; the file has no datasets"));

  hdf5_writer many{folder.path() / "many.h5"};
  for (int i = 0; i < 13; ++i)
    (void)many.make(std::string{"d"}.append(std::to_string(10 + i)), H5T_STD_U8LE, {1});
  CHECK(contains(refusal_of(many.close(), {{"x"}}), "/d18, /d19 and 3 more"));
}

TEST_CASE("hdf5: a link to nothing is refused as such", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "links.h5"};
  writer.make_soft_link("/nowhere", "dangling");
  writer.make_external_link("nofile.h5", "/x", "lost");
  const auto file = writer.close();
  CHECK(contains(refusal_of(file, {{"dangling"}}), "field 'dangling': cannot be opened: "));
  CHECK(contains(refusal_of(file, {{"lost"}}), "field 'lost': cannot be opened: "));
}

TEST_CASE("hdf5: fields whose numbers of samples differ are refused with both", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder);
  const auto message = refusal_of(file, {{"image"}, {"label"}, {"group/other"}});
  CHECK(contains(message,
                 "field 'group/other': holds 21 samples (other: uint8[]), but 'image' "
                 "holds 20"));
}

TEST_CASE("hdf5: a dataset whose samples have no values is refused", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "empty.h5"};
  (void)writer.make("hollow", H5T_STD_U8LE, {3, 2, 0});
  {
    const detail::hdf5_space_id null{H5Screate(H5S_NULL)};
    const detail::hdf5_dataset_id made{H5Dcreate2(writer.id(), "null", H5T_STD_U8LE, null.get(),
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
  }
  const auto file = writer.close();
  CHECK(contains(refusal_of(file, {{"hollow"}}), "a sample would hold nothing: dimension 2 is 0"));
  CHECK(contains(refusal_of(file, {{"null"}}), "field 'null': is empty (a null dataspace)"));
}

TEST_CASE("hdf5: a sample too large to count in bytes is refused", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "huge.h5"};
  const hsize_t half = hsize_t{1} << 31;
  (void)writer.make("x", H5T_IEEE_F64LE, {2, half, half}, chunked("", {1, 16, 16}));
  const auto file = writer.close();
  CHECK(contains(refusal_of(file, {{"x"}}), "a sample's bytes do not fit in 64 bits"));
}

TEST_CASE("hdf5: no field, and two of one name, are the caller's mistake", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder);
  CHECK(contains(message_of<usage_error>([&] { (void)open_hdf5(file, {}); }),
                 "needs at least one field"));
  CHECK(contains(message_of<usage_error>([&] {
                   (void)open_hdf5(file, {{"image", "x"}, {"label", "x"}});
                 }),
                 "both named 'x'"));
}

TEST_CASE("hdf5: a filter that is not installed is refused by its number, with a remedy",
          "[dataset][host]") {
  const temporary_directory folder;
  // A filter of this program's own, which is gone again when the file is read.
  constexpr H5Z_filter_t number = 32'761;
  const H5Z_class2_t copying{H5Z_CLASS_T_VERS,
                             number,
                             1,
                             1,
                             "nothing much",
                             nullptr,
                             nullptr,
                             [](unsigned, std::size_t, const unsigned*, std::size_t bytes,
                                std::size_t*, void**) { return bytes; }};
  require_hdf5(H5Zregister(&copying) >= 0, "register a filter");
  hdf5_writer writer{folder.path() / "filter.h5"};
  const auto values = various_bytes(100);
  writer.write("x", H5T_STD_U8LE, {100}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {10}, [](hid_t creation) {
                 H5Pset_filter(creation, number, H5Z_FLAG_MANDATORY, 0, nullptr);
               }));
  const auto file = writer.close();
  CHECK_NOTHROW(open_hdf5(file, {{"x"}}));
  require_hdf5(H5Zunregister(number) >= 0, "forget a filter");

  const auto message = refusal_of(file, {{"x"}});
  CHECK(contains(message, "field 'x': is stored through filter 32761"));
  CHECK(contains(message, "which is not installed. 'pip install hdf5plugin' brings most filters"));
  CHECK(contains(message,
                 "HDF5_PLUGIN_PATH=$(python3 -c \"import hdf5plugin; "
                 "print(hdf5plugin.PLUGIN_PATH)\")"));
  CHECK(list_hdf5_fields(file).size() == 1);
}

TEST_CASE("hdf5: a damaged chunk loses its own samples alone, and the first is named",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "damaged.h5"};
  const auto values = various_bytes(1000);
  writer.write("x", H5T_STD_U8LE, {100, 10}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {8, 10}, [](hid_t creation) { H5Pset_fletcher32(creation); }));
  const auto file = writer.close();
  auto bytes = bytes_of_file(file);
  // A byte of sample 43, which stands in the chunk of samples 40 to 47.
  const auto row =
      std::search(bytes.begin(), bytes.end(), values.begin() + 430, values.begin() + 440);
  REQUIRE(row != bytes.end());
  *row ^= std::byte{1};
  folder.write("damaged.h5", bytes);

  const std::size_t limit = GENERATE(0U, 1U << 20);
  const auto opened = open_hdf5(file, {{"x"}}, {.max_resident_bytes = limit});
  CHECK(read_sample(*opened, sample_index{39}).front() ==
        std::vector<std::byte>(values.begin() + 390, values.begin() + 400));
  CHECK(read_sample(*opened, sample_index{48}).front() ==
        std::vector<std::byte>(values.begin() + 480, values.begin() + 490));
  std::vector<sample_index> run;
  for (std::uint64_t i = 35; i < 60; ++i) run.push_back({i});
  try {
    (void)read_samples(*opened, run);
    FAIL("nothing was thrown");
  } catch (const hdf5_error& error) {
    CHECK(error.path() == file.string());
    CHECK(error.field() == "x");
    CHECK(error.sample() == 40);
    INFO(error.what());
    REQUIRE(error.offset().has_value());
    CHECK(contains(error.what(), "sample 40, byte " + std::to_string(*error.offset()) +
                                     ": cannot be read: chunk 5 (84 bytes at byte " +
                                     std::to_string(*error.offset()) +
                                     ") does not decode: filter 3 (fletcher32): "));
  }
}

TEST_CASE("hdf5: a sample beyond the dataset is refused", "[dataset][host]") {
  const temporary_directory folder;
  const auto opened = open_hdf5(write_usual(folder), {{"image"}});
  CHECK_THROWS_AS(read_sample(*opened, sample_index{20}), dataset_error);
}
