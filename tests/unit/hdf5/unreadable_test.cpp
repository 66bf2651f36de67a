#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/patch_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/writer.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

// Messages in object headers of the oldest format, which have no checksums.
constexpr std::string_view contiguous_layout = "\x03\x01"sv;
constexpr std::string_view layout_of_a_later_version = "\x05\x01"sv;

/// "/label", which is sound, and "/image", which has a layout of a version still to come.
fs::path write_newer_beside_old(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "whole.h5"};
  const auto values = various_bytes(80);
  writer.write("label", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  writer.write("image", H5T_STD_U8LE, {20, 4}, H5T_NATIVE_UINT8, values.data());
  auto bytes = bytes_of_file(writer.close());
  replace_last(bytes, contiguous_layout, layout_of_a_later_version);
  return folder.write("newer.h5", bytes);
}

std::string version_of_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}

/// The fields that a listing calls unreadable, with the reasons.
std::map<std::string, std::string> refusals_in(const fs::path& file) {
  std::map<std::string, std::string> refusals;
  for (const auto& listing : list_hdf5_fields(file)) refusals[listing.dataset] = listing.refusal;
  return refusals;
}

std::string refusal_of(const fs::path& file, const std::string& dataset) {
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{dataset}}); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string newer_layout =
    "cannot be opened: bad version number for layout message, so it was written by a newer HDF5 "
    "than this build's (" +
    version_of_library() +
    "), or is damaged; 'h5repack OLD.h5 NEW.h5' of that newer HDF5 writes a file for older ones";

}  // namespace

TEST_CASE("hdf5: a dataset of a newer HDF5 is listed with that reason, beside those that open",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_newer_beside_old(folder);
  const std::map<std::string, std::string> expected{{"/image", newer_layout}, {"/label", ""}};
  CHECK(refusals_in(file) == expected);
  CHECK(refusal_of(file, "image") == file.string() + ": field 'image': " + newer_layout);
  CHECK(open_hdf5(file, {{"label"}})->size() == 20);
  CHECK(refusal_of(file, "labels") ==
        file.string() +
            ": field 'labels': there is no such dataset; the file has /label; besides, of the "
            "file's objects these are not readable: /image (" +
            newer_layout + ")");
}

TEST_CASE("hdf5: a damaged group hides none of the other datasets", "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_bytes(20);
  hdf5_writer writer{folder.path() / "whole.h5"};
  for (const std::string group : {"a", "b", "c"}) {
    writer.make_group(group);
    writer.write(group + "/x", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  }
  auto bytes = bytes_of_file(writer.close());
  replace_last(bytes, "HEAP", "HEAQ");  // the heap of names in the group that was made last
  const auto file = folder.write("damaged.h5", bytes);
  const auto refusals = refusals_in(file);
  CHECK(refusals.size() == 3);
  CHECK(refusals.at("/a/x").empty());
  CHECK(refusals.at("/b/x").empty());
  CHECK(contains(refusals.at("/c"), "a group that cannot be listed: "));
  CHECK(open_hdf5(file, {{"a/x"}, {"b/x", "y"}})->size() == 20);
  CHECK(contains(refusal_of(file, "c/x"),
                 "field 'c/x': cannot be looked for, since 'c' cannot be searched: "));
  CHECK(contains(refusal_of(file, "a/y"),
                 "the file has /a/x, /b/x; besides, of the file's objects "
                 "these are not readable: /c (a group that cannot be"));
}

TEST_CASE("hdf5: groups that are reached twice, or hold themselves, are listed once",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_bytes(20);
  hdf5_writer writer{folder.path() / "ring.h5"};
  writer.make_group("a");
  writer.make_group("a/b");
  writer.write("a/b/x", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  for (const auto& [target, name] :
       std::vector<std::pair<const char*, const char*>>{{"/", "a/b/root"}, {"/a/b", "again"}})
    require_hdf5(
        H5Lcreate_hard(writer.id(), target, writer.id(), name, H5P_DEFAULT, H5P_DEFAULT) >= 0,
        "link a group");
  const std::map<std::string, std::string> expected{{"/a/b/x", ""}};
  CHECK(refusals_in(writer.close()) == expected);
}

TEST_CASE("hdf5: a member of records that cannot be opened is refused in the records' own words",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "whole.h5"};
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 4)};
  H5Tinsert(record.get(), "a", 0, H5T_STD_U32LE);
  const auto values = various_bytes(80);
  writer.write("t", record.get(), {20}, record.get(), values.data());
  auto bytes = bytes_of_file(writer.close());
  replace_last(bytes, contiguous_layout, layout_of_a_later_version);
  const auto file = folder.write("newer.h5", bytes);
  const std::string why = newer_layout.substr(newer_layout.find("bad"));
  const std::string expected =
      file.string() + ": field 't/a': cannot be looked for, since 't' cannot be opened: " + why;
  CHECK(refusal_of(file, "t/a") == expected);
  CHECK(message_of<hdf5_error>([&] { (void)open_hdf5_ragged(file, {"t/a"}); }) == expected);
}

TEST_CASE("hdf5: real files of a newer HDF5 say so", "[dataset][host]") {
  const auto beside_old = find_test_data("found/newer_layout_beside_old.h5");
  const auto record = find_test_data("found/record_of_newer_hdf5.h5");
  if (!beside_old || !record)
    FEEDLINE_SKIP("no such files: name the folder above found in FEEDLINE_TEST_DATA");
  if (!contains(refusal_of(*beside_old, "image"), "bad version"))
    FEEDLINE_SKIP("this HDF5 library knows their version");
  const std::string newer = "written by a newer HDF5 than this build's (" + version_of_library();
  CHECK(contains(refusals_in(*beside_old).at("/image"), newer));
  CHECK(refusals_in(*beside_old).at("/label").empty());
  CHECK(contains(refusal_of(*record, "t/a"), newer));
}

TEST_CASE("hdf5: a real file whose metadata is in a cache image is refused with the remedy",
          "[dataset][host]") {
  const auto file = find_test_data("found/cache_image.h5");
  if (!file) FEEDLINE_SKIP("no such file: name the folder above found in FEEDLINE_TEST_DATA");
  const auto message = message_of<hdf5_error>([&] { (void)list_hdf5_fields(*file); });
  CHECK(contains(message, "cache image"));
  CHECK(contains(message, "h5repack cache_image.h5 NEW.h5"));
}

TEST_CASE("hdf5: a fill time that means nothing is refused as damage", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "whole.h5"};
  (void)writer.make("x", H5T_STD_U8LE, {20});
  const auto whole = bytes_of_file(writer.close());
  CHECK(open_hdf5(folder.path() / "whole.h5", {{"x"}})->size() == 20);
  // The fill message: version 2, allocated late, filled if set, with a value of no bytes.
  auto bytes = whole;
  replace_last(bytes, "\x02\x02\x02\x01"sv, "\x02\x02\x80\x01"sv);
  const auto file = folder.write("damaged.h5", bytes);
  const auto message = refusal_of(file, "x");
  INFO(message);
  CHECK(contains(message, "field 'x': "));
  CHECK((contains(message, "its fill time is 128, which has no meaning; the file is damaged") ||
         contains(message, "cannot be opened")));  // newer libraries look at it themselves
  CHECK_FALSE(refusals_in(file).at("/x").empty());
}

TEST_CASE("hdf5: a real file with a damaged fill time is refused", "[dataset][host]") {
  const auto file = find_test_data("found/fill_time_128.h5");
  if (!file) FEEDLINE_SKIP("no such file: name the folder above found in FEEDLINE_TEST_DATA");
  std::size_t refused = 0;
  for (const auto& [dataset, refusal] : refusals_in(*file))
    if (!refusal.empty()) {
      ++refused;
      CHECK_THROWS_AS(open_hdf5(*file, {{dataset}}), hdf5_error);
    }
  CHECK(refused == 1);
}
