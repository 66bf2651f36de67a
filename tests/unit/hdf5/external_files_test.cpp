#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/virtual_file.hpp"
#include "support/hdf5/writer.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t rows = virtual_file::rows_per_source;

/// How an HDF5 file may have another one read.
enum class way { raw_file, link, source };

/// A file with dataset "x" of 4 numbers, which lie in another file. @param named Name of the other
/// file in this one.
fs::path write_naming(const fs::path& folder, way how, const std::string& named) {
  if (how == way::source) {
    hdf5_writer writer{folder / "v.h5", {.latest_format = true}};
    (void)writer.make("x", H5T_STD_U32LE, {rows},
                      {"virtual", [&](hid_t creation) {
                         const hsize_t all = rows;
                         const detail::hdf5_space_id space{H5Screate_simple(1, &all, nullptr)};
                         H5Pset_virtual(creation, space.get(), named.c_str(), "x", space.get());
                       }});
    return writer.close();
  }
  hdf5_writer writer{folder / "v.h5"};
  if (how == way::link) writer.make_external_link(named, "/x", "x");
  if (how == way::raw_file)
    (void)writer.make("x", H5T_STD_U32LE, {rows}, {"external", [&](hid_t creation) {
                                                     H5Pset_external(creation, named.c_str(), 0,
                                                                     H5F_UNLIMITED);
                                                   }});
  return writer.close();
}

/// The other file, of numbers 0 to 3.
void write_other(const fs::path& path, way how) {
  if (how != way::raw_file) return write_numbers(path, 0, rows);
  const auto values = numbers(0, rows);
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(values.data()),
                                              static_cast<std::streamsize>(rows * 4));
}

std::vector<std::uint32_t> read_all(const fs::path& file, external_files external) {
  return read_numbers(*open_hdf5(file, {{"x"}}, {.external = external}), 0, rows);
}

std::string refusal_of(const fs::path& file, external_files external) {
  return message_of<hdf5_error>([&] { (void)read_all(file, external); });
}

}  // namespace

TEST_CASE("hdf5: a file outside the folder is read by leave alone, and the refusal names it",
          "[dataset][host]") {
  const temporary_directory folder;
  const temporary_directory elsewhere;
  const way how = GENERATE(way::raw_file, way::link, way::source);
  const auto other = elsewhere.path() / "secret";
  write_other(other, how);
  const bool by_link = GENERATE(false, true);
  if (by_link) fs::create_symlink(other, folder.path() / "near");
  const auto file = write_naming(folder.path(), how, by_link ? "near" : other.string());
  INFO(static_cast<int>(how) << (by_link ? ", by a symbolic link" : ""));
  const auto outside = refusal_of(file, external_files::same_folder);
  CHECK(contains(outside, file.string() + ": field 'x': "));
  CHECK(contains(outside, other.string()));
  CHECK(contains(outside, "lies outside the folder of the HDF5 file"));
  CHECK(contains(outside, "hdf5_options::external = external_files::allow"));
  const auto none = refusal_of(file, external_files::refuse);
  CHECK(contains(none, (by_link ? folder.path() / "near" : other).string()));
  CHECK(contains(none, "hdf5_options::external is external_files::refuse"));
  CHECK(read_all(file, external_files::allow) == numbers(0, rows));
  CHECK_THROWS_AS(open_hdf5(file, {{"x"}}), hdf5_error);  // same_folder is the default
}

TEST_CASE("hdf5: a file in the folder or below it is read, and refused where none may be",
          "[dataset][host]") {
  const temporary_directory folder;
  const way how = GENERATE(way::raw_file, way::link, way::source);
  const std::string named = GENERATE("other", "parts/other", "parts/../other");
  fs::create_directory(folder.path() / "parts");
  write_other(folder.path() / named, how);
  const auto file = write_naming(folder.path(), how, named);
  CHECK(read_all(file, external_files::same_folder) == numbers(0, rows));
  CHECK(contains(refusal_of(file, external_files::refuse), "other"));
  if (how == way::raw_file) return;  // found beside the name of the HDF5 file alone
  // A link to the HDF5 file leads to its folder, too.
  const temporary_directory elsewhere;
  fs::create_symlink(file, elsewhere.path() / "alias.h5");
  CHECK(read_all(elsewhere.path() / "alias.h5", external_files::same_folder) == numbers(0, rows));
}

TEST_CASE("hdf5: a folder whose name only begins like that of the file's folder is outside it",
          "[dataset][host]") {
  const temporary_directory folder;
  const way how = GENERATE(way::raw_file, way::link, way::source);
  for (const std::string name : {"data", "data2"}) fs::create_directory(folder.path() / name);
  write_other(folder.path() / "data2" / "other", how);
  const auto file = write_naming(folder.path() / "data", how, "../data2/other");
  CHECK(contains(refusal_of(file, external_files::same_folder), "lies outside the folder"));
}

TEST_CASE("hdf5: a listing enters no file that may not be read", "[dataset][host]") {
  const temporary_directory folder;
  const temporary_directory elsewhere;
  const auto other = elsewhere.path() / "secret.h5";
  write_numbers(other, 0, rows);
  const auto file = write_naming(folder.path(), way::link, other.string());
  const auto listed = list_hdf5_fields(file);
  REQUIRE(listed.size() == 1);
  CHECK(contains(listed[0].refusal, other.string()));
  CHECK(contains(listed[0].refusal, "lies outside the folder of the HDF5 file"));
  CHECK(list_hdf5_fields(file, {.external = external_files::allow}).at(0).refusal.empty());
}

TEST_CASE("hdf5: names out of a file command no terminal", "[dataset][host]") {
  const temporary_directory folder;
  const std::string name = "x\x1b[2J\n";
  hdf5_writer writer{folder.path() / "names.h5"};
  (void)writer.make(name, H5T_STD_U8LE, {3, 0});
  (void)writer.make("y", H5T_STD_U8LE, {3});
  const auto file = writer.close();
  for (const std::string& wanted : {name, std::string{"missing"}}) {
    const auto message = message_of<hdf5_error>([&] { (void)open_hdf5(file, {{wanted}}); });
    INFO(message);
    CHECK(contains(message, "x\\x1b[2J\\n"));
    CHECK(message.find_first_of("\x1b\n") == std::string::npos);
  }
}

TEST_CASE("hdf5: options that are not values of their enumeration are refused", "[dataset][host]") {
  const temporary_directory folder;
  write_numbers(folder.path() / "x.h5", 0, rows);
  const auto file = folder.path() / "x.h5";
  const auto refused = [&](const hdf5_options& options) {
    return message_of<usage_error>([&] { (void)open_hdf5(file, {{"x"}}, options); });
  };
  CHECK(contains(refused({.external = static_cast<external_files>(3)}),
                 "hdf5_options::external is 3, which is not one of its values"));
  CHECK(contains(refused({.conventions = static_cast<value_conventions>(9)}),
                 "hdf5_options::conventions is 9"));
}

TEST_CASE("hdf5: a single value in a raw file is read", "[dataset][host]") {
  const temporary_directory folder;
  const std::string raw = folder.path() / "value";
  const std::uint32_t value = 77;
  std::ofstream{raw, std::ios::binary}.write(reinterpret_cast<const char*>(&value), sizeof value);
  hdf5_writer writer{folder.path() / "a.h5"};
  (void)writer.make("x", H5T_STD_U32LE, {}, {"external", [&](hid_t creation) {
                                               H5Pset_external(creation, raw.c_str(), 0,
                                                               sizeof value);
                                             }});
  const auto file = writer.close();
  CHECK(read_numbers(*open_hdf5(file, {{"x"}}), 0, 1) == std::vector{value});
}
