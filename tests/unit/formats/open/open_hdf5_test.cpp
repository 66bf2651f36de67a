#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/patch_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <string>

using namespace feedline;

namespace {

std::filesystem::path write_file(const std::filesystem::path& path, hsize_t userblock,
                                 hsize_t labels) {
  const auto bytes = test::various_bytes(64);
  test::hdf5_writer file{path, {.userblock = userblock}};
  file.make_group("train");
  file.write("train/images", H5T_STD_U8LE, {4, 3}, H5T_NATIVE_UINT8, bytes.data());
  file.write("train/labels", H5T_STD_U16LE, {labels}, H5T_NATIVE_UINT16, bytes.data());
  return file.close();
}

}  // namespace

TEST_CASE("open: an HDF5 file gives all its datasets, also after a user block", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto userblock = GENERATE(hsize_t{0}, hsize_t{512}, hsize_t{4096});
  const auto path = write_file(folder.path() / "a.tar", userblock, 4);
  CHECK(detect_format(path) == "hdf5");
  CHECK(open(path)->fields() ==
        std::vector<field>{{"images", element_type::u8, {3}}, {"labels", element_type::u16, {}}});
  CHECK(open(path, {.fields = {"train/labels"}})->fields() ==
        std::vector<field>{{"labels", element_type::u16, {}}});
  CHECK(open(std::vector<std::string>{path, path})->size() == 8);
}

TEST_CASE("open: HDF5 datasets that do not belong together are to be named", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = write_file(folder.path() / "a.h5", 0, 5);
  CHECK(
      test::message_of<dataset_error>([&] { (void)open(path); }) ==
      path.string() +
          ": field '/train/labels': holds 5 samples, but /train/images holds 4; choose one of "
          "those that belong together in open_options::like, as in \"/train/images\", or name all "
          "in open_options::fields. Samples: 4: /train/images; 5: /train/labels");
  CHECK(open(path, {.fields = {"train/labels"}})->size() == 5);

  test::hdf5_writer twice{folder.path() / "b.h5"};
  const auto bytes = test::various_bytes(8);
  for (const std::string group : {"a", "b"}) {
    twice.make_group(group);
    twice.write(group + "/x", H5T_STD_U8LE, {4}, H5T_NATIVE_UINT8, bytes.data());
  }
  const auto other = twice.close();
  CHECK(test::message_of<dataset_error>([&] { (void)open(other); }) ==
        other.string() +
            ": field '/b/x': has the name of /a/x; choose one of those that belong together in "
            "open_options::like, as in \"/a/x\", or name all in open_options::fields");
  CHECK(open(other, {.like = "b/x"})->size() == 4);
}

TEST_CASE(
    "open: an HDF5 file is refused whole if any dataset cannot be read, and the error lists the "
    "readable ones",
    "[dataset][host]") {
  const test::temporary_directory folder;
  auto bytes = test::bytes_of_file(write_file(folder.path() / "whole.h5", 0, 4));
  test::replace_last(bytes, "\x03\x01", "\x05\x01");  // a layout of a version still to come
  const auto path = folder.write("newer.h5", bytes);
  const auto message = test::message_of<dataset_error>([&] { (void)open(path); });
  INFO(message);
  CHECK(message.find(path.string() + ": field '/train/labels': cannot be opened: bad version") ==
        0);
  const std::string advice =
      "; to open the file without unreadable datasets, name fields in open_options::fields, of "
      "/train/images";
  CHECK(message.substr(message.size() - advice.size()) == advice);
  CHECK(open(path, {.fields = {"train/images"}})->size() == 4);
}

TEST_CASE("open: a dataset of records gives its members, by their names, or all of their path",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const detail::hdf5_type_id point{H5Tcreate(H5T_COMPOUND, 8)};
  H5Tinsert(point.get(), "x", 0, H5T_STD_I16BE);
  H5Tinsert(point.get(), "t", 4, H5T_STD_U32LE);
  const detail::hdf5_type_id speed{H5Tcreate(H5T_COMPOUND, 2)};
  H5Tinsert(speed.get(), "x", 0, H5T_STD_I16LE);
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 16)};
  H5Tinsert(record.get(), "id", 0, H5T_STD_U8LE);
  H5Tinsert(record.get(), "position", 2, point.get());
  H5Tinsert(record.get(), "speed", 12, speed.get());
  const auto bytes = test::various_bytes(4 * 16);
  test::hdf5_writer file{folder.path() / "a.h5"};
  file.write("events", record.get(), {4}, record.get(), bytes.data());
  file.write("label", H5T_STD_U16LE, {4}, H5T_NATIVE_UINT16, bytes.data());
  const auto path = file.close();
  CHECK(open(path)->fields() == std::vector<field>{{"id", element_type::u8, {}},
                                                   {"position.x", element_type::i16, {}},
                                                   {"t", element_type::u32, {}},
                                                   {"speed.x", element_type::i16, {}},
                                                   {"label", element_type::u16, {}}});
  CHECK(open(path, {.fields = {"events/speed/x", "label"}})->fields() ==
        std::vector<field>{{"x", element_type::i16, {}}, {"label", element_type::u16, {}}});
}

TEST_CASE("open: naming one dataset of an HDF5 file chooses all that belong to it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = test::various_bytes(64);
  test::hdf5_writer writer{folder.path() / "a.h5"};
  const auto add = [&](const std::string& name, hsize_t samples) {
    writer.write(name, H5T_STD_U8LE, {samples}, H5T_NATIVE_UINT8, bytes.data());
  };
  for (const std::string group : {"train", "test", "other"}) {
    writer.make_group(group);
    add(group + "/image", group == "train" ? 9 : 6);
    add(group + "/label", group == "train" ? 9 : 6);
  }
  add("weight", 9);
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 2)};
  H5Tinsert(record.get(), "id", 0, H5T_STD_U8LE);
  H5Tinsert(record.get(), "kind", 1, H5T_STD_U8LE);
  writer.write("events", record.get(), {3}, record.get(), bytes.data());
  const auto path = writer.close();
  const auto names = [&](const std::string& like) {
    std::vector<std::string> found;
    for (const field& each : open(path, {.like = like})->fields()) found.push_back(each.name);
    return found;
  };
  CHECK(names("train/image") == std::vector<std::string>{"image", "label", "weight"});
  CHECK(names("/weight") == names("train/label"));
  CHECK(names("test/image") == std::vector<std::string>{"image", "label"});
  CHECK(open(path, {.like = "test/image"})->size() == 6);
  CHECK(names("events") == std::vector<std::string>{"id", "kind"});
  CHECK(names("events/kind") == names("events"));
  const std::string lengths =
      "3: /events/id, /events/kind; 6: /other/image, /other/label, /test/image, /test/label; 9: "
      "/train/image, /train/label, /weight";
  CHECK(test::message_of<dataset_error>([&] { (void)open(path, {.like = "train"}); }) ==
        path.string() +
            ": field 'train': open_options::like is not a dataset that can be a field; samples: " +
            lengths);
  CHECK(test::message_of<usage_error>(
            [&] { (void)open(path, {.fields = {"weight"}, .like = "weight"}); }) ==
        "open: open_options::like chooses datasets of HDF5 files, instead of fields; give one of "
        "both");
  CHECK(test::message_of<usage_error>([&] { (void)open(folder.path(), {.like = "x"}); }) ==
        "open: open_options::like chooses datasets of HDF5 files, instead of fields; " +
            folder.path().string() + " is of the format image_folder");
}

TEST_CASE(
    "list_fields: shows fields of an HDF5 file that do not belong together, and ragged values",
    "[dataset][host]") {
  const test::temporary_directory folder;
  test::hdf5_writer writer{folder.path() / "a.h5"};
  const auto bytes = test::various_bytes(8);
  writer.write("label", H5T_STD_U8LE, {4}, H5T_NATIVE_UINT8, bytes.data());
  writer.write("weight", H5T_STD_U8LE, {7}, H5T_NATIVE_UINT8, bytes.data());
  test::write_sequences(writer, "jpeg", H5T_STD_U8LE, H5T_NATIVE_UINT8,
                        test::various_values({1, 2}, 1));
  const auto file = writer.close();
  std::vector<std::string> lines;
  for (const listed_field& each : list_fields(file))
    lines.push_back(each.name + " " + std::to_string(each.samples) + " " + to_string(each.spec) +
                    (each.is_ragged ? " ragged" : "") + each.refusal);
  CHECK(lines == std::vector<std::string>{"/jpeg 2 jpeg: uint8[] ragged", "/label 4 label: uint8[]",
                                          "/weight 7 weight: uint8[]"});
}

TEST_CASE(
    "open: values of variable length in an HDF5 file are left out, and named if there is no other",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = test::various_bytes(8);
  const auto write = [&](const std::string& name, bool with_label) {
    test::hdf5_writer writer{folder.path() / name};
    test::write_sequences(writer, "jpeg", H5T_STD_U8LE, H5T_NATIVE_UINT8,
                          test::various_values({1, 2}, 1));
    if (with_label) writer.write("label", H5T_STD_U8LE, {4}, H5T_NATIVE_UINT8, bytes.data());
    return writer.close();
  };
  const test::log_capture log;
  const auto both = write("both.h5", true);
  CHECK(open(both)->fields() == std::vector<field>{{"label", element_type::u8, {}}});
  CHECK(log.text().find("open: " + both.string() +
                        ": left out: /jpeg (of variable length: open_hdf5_ragged reads it); name "
                        "fields in open_options::fields") != std::string::npos);
  const auto alone = write("alone.h5", false);
  CHECK(test::message_of<dataset_error>([&] { (void)open(alone); }) ==
        alone.string() +
            ": an HDF5 file with no dataset that can be a field; it holds /jpeg (of variable "
            "length: open_hdf5_ragged reads it)");
}

TEST_CASE("open: the log and list_fields name datasets of an HDF5 file that cannot be fields",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = test::various_bytes(64);
  const std::vector<std::byte> nothing(64);  // references to nothing
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 9)};
  H5Tinsert(record.get(), "id", 0, H5T_STD_U8LE);
  H5Tinsert(record.get(), "where", 1, H5T_STD_REF_OBJ);
  test::hdf5_writer writer{folder.path() / "a.h5"};
  writer.write("events", record.get(), {4}, record.get(), nothing.data());
  writer.write("label", H5T_STD_U8LE, {4}, H5T_NATIVE_UINT8, bytes.data());
  writer.write("names", H5T_STD_REF_OBJ, {4}, H5T_STD_REF_OBJ, nothing.data());
  writer.write("epoch", H5T_STD_U8LE, {}, H5T_NATIVE_UINT8, bytes.data());
  const auto file = writer.close();
  const test::log_capture log;
  CHECK(open(file)->fields() ==
        std::vector<field>{{"id", element_type::u8, {}}, {"label", element_type::u8, {}}});
  CHECK(log.lines() == 1);
  std::vector<std::string> left_out;
  for (const listed_field& each : list_fields(file))
    if (!each.left_out.empty()) {
      left_out.push_back(each.name);
      CHECK(each.refusal.empty());
      CHECK(log.text().find(each.name + " (" + each.left_out + ")") != std::string::npos);
    }
  CHECK(left_out == std::vector<std::string>{"/epoch", "/events/where", "/names"});
  CHECK(open(file, {.fields = {"label"}})->size() == 4);
  CHECK(open(file, {.like = "label"})->size() == 4);
  CHECK(log.lines() == 1);  // the caller's choice is not reported
}

TEST_CASE("open: a warning names namesakes that a choice by one dataset leaves out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = test::various_bytes(8);
  test::hdf5_writer writer{folder.path() / "a.h5"};
  for (const std::string group : {"a", "b"}) {
    writer.make_group(group);
    writer.write(group + "/x", H5T_STD_U8LE, {4}, H5T_NATIVE_UINT8, bytes.data());
  }
  const auto file = writer.close();
  const test::log_capture log;
  CHECK(open(file, {.like = "b/x"})->fields().size() == 1);
  CHECK(log.text().find(
            "open: " + file.string() +
            ": left out, because their names are also used by datasets beside /b/x: /a/x") !=
        std::string::npos);
}

TEST_CASE("open: single values and references of an HDF5 file are fields if they are named",
          "[dataset][host]") {
  const test::temporary_directory folder;
  test::hdf5_writer writer{folder.path() / "a.h5"};
  const std::uint8_t value = 7;
  writer.write("epoch", H5T_STD_U8LE, {}, H5T_NATIVE_UINT8, &value);
  const auto file = writer.close();
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)open(file); }),
      "it holds /epoch (a single value); fields may be named in open_options::fields"));
  for (const auto& opened : {open(file, {.fields = {"epoch"}}), open(file, {.like = "epoch"})}) {
    REQUIRE(opened->size() == 1);
    CHECK(test::read_sample(*opened, sample_index{0}).front().front() == std::byte{7});
  }
  CHECK(list_fields(file).front().left_out == "a single value");
  CHECK(list_fields(file).front().samples == 1);
}
