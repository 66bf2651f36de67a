#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/writer.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

const std::string members_of_events =
    "energy, id, flag, position/z, position/x, position/y, track, wave, name, rate/s";

/// Records "events", and plain values "label" and "group/label".
fs::path write_usual(const fs::path& path) {
  hdf5_writer writer{path};
  const auto record = record_type(record_style::padded);
  const auto values = various_bytes(20 * H5Tget_size(record.get()));
  writer.write("events", record.get(), {20}, record.get(), values.data());
  writer.write("label", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  writer.make_group("group");
  writer.write("group/label", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
  return writer.close();
}

std::string refusal_of(const fs::path& file, const std::string& dataset) {
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{dataset}}); });
}

std::string named(const fs::path& file, const std::string& dataset, const std::string& message) {
  return file.string() + ": field '" + dataset + "': " + message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("hdf5: records as a whole are refused with their members and how one is named",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder.path() / "usual.h5");
  const std::string records =
      "its values are records (HDF5 type class 'compound'), and a field is one member of theirs: "
      "name "
      "it as in '";
  CHECK(refusal_of(file, "events") ==
        named(file, "events", records + "events/energy'; they have " + members_of_events));
  CHECK(refusal_of(file, "/events/") ==
        named(file, "/events/", records + "/events/energy'; they have " + members_of_events));
  CHECK(refusal_of(file, "events/position") ==
        named(file, "events/position", records + "events/position/z'; they have z, x, y"));

  hdf5_writer many{folder.path() / "many.h5"};
  const detail::hdf5_type_id wide{H5Tcreate(H5T_COMPOUND, 12)};
  for (std::size_t i = 0; i < 12; ++i)
    H5Tinsert(wide.get(), ("m" + std::to_string(i)).c_str(), i, H5T_STD_U8LE);
  (void)many.make("x", wide.get(), {4});
  CHECK(contains(refusal_of(many.close(), "x"),
                 "they have m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more"));

  // Two numbers with a gap between them are no complex number.
  hdf5_writer gaps{folder.path() / "gaps.h5"};
  const detail::hdf5_type_id apart{H5Tcreate(H5T_COMPOUND, 12)};
  H5Tinsert(apart.get(), "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(apart.get(), "i", 8, H5T_NATIVE_FLOAT);
  (void)gaps.make("x", apart.get(), {4});
  CHECK(contains(refusal_of(gaps.close(), "x"), "name it as in 'x/r'; they have r, i"));
}

TEST_CASE("hdf5: a member that is not there is refused with those there are", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder.path() / "usual.h5");
  for (const std::string member : {"enrgy", "energy/x", "position/w", "rate", "posi", "s"}) {
    const std::string path = "events/" + member;
    CHECK(refusal_of(file, path) ==
          named(file, path,
                "its records have no member '" + member + "'; they have " + members_of_events));
  }
  CHECK(refusal_of(file, "label/x") ==
        named(file, "label/x",
              "there is no such dataset; the file has /events, /group/label, /label; the values of "
              "'label' are not records, so they have no members"));
  CHECK(refusal_of(file, "group/label/x/y") ==
        named(file, "group/label/x/y",
              "there is no such dataset; the file has /events, /group/label, /label; the values of "
              "'group/label' are not records, so they have no members"));
  for (const std::string path : {"group/energy", "event/energy", "nowhere"})
    CHECK(
        refusal_of(file, path) ==
        named(file, path, "there is no such dataset; the file has /events, /group/label, /label"));
}

TEST_CASE("hdf5: slashes that mean nothing in paths of datasets mean nothing in those of members",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_usual(folder.path() / "usual.h5");
  for (const std::string path : {"events/position/x", "/events/position/x", "//events//position/x",
                                 "events/position//x", "events/position/x/"}) {
    INFO(path);
    CHECK(open_hdf5(file, {{path}})->fields() == std::vector<field>{{"x", element_type::f64, {}}});
  }
}

TEST_CASE("hdf5: a member's name that has '/' in it is found before its parts are",
          "[dataset][host]") {
  // A record "a" with a member "b" beside "a/b"; a record "x" with "b/c" beside a record "x/b" with
  // "c".
  const auto number_in = [](const char* name, hid_t number) {
    detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, H5Tget_size(number))};
    H5Tinsert(record.get(), name, 0, number);
    return record;
  };
  const auto inner = number_in("b", H5T_STD_U16LE);
  const auto longer = number_in("c", H5T_STD_U32LE);
  const auto shorter = number_in("b/c", H5T_STD_U64LE);
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 32)};
  H5Tinsert(record.get(), "a", 0, inner.get());
  H5Tinsert(record.get(), "a/b", 2, H5T_STD_U8LE);
  H5Tinsert(record.get(), "x", 8, shorter.get());
  H5Tinsert(record.get(), "x/b", 16, longer.get());
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "slashes.h5"};
  (void)writer.make("d", record.get(), {4});
  const auto file = writer.close();
  const auto type_of = [&](const std::string& path) {
    return open_hdf5(file, {{path}})->fields().front().type;
  };
  CHECK(type_of("d/a/b") == element_type::u8);     // not b in a
  CHECK(type_of("d/x/b/c") == element_type::u32);  // the longest name that begins the path
}

TEST_CASE("hdf5: a member of a type that no element stands for is refused as such, and not listed",
          "[dataset][host]") {
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), H5T_VARIABLE);
  const detail::hdf5_type_id lists{H5Tvlen_create(H5T_NATIVE_INT)};
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 64)};
  H5Tinsert(record.get(), "text", 0, text.get());
  H5Tinsert(record.get(), "lists", 16, lists.get());
  H5Tinsert(record.get(), "link", 32, H5T_STD_REF_DSETREG);
  H5Tinsert(record.get(), "long", 48, H5T_NATIVE_LDOUBLE);
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "types.h5"};
  (void)writer.make("x", record.get(), {4});
  const auto file = writer.close();
  std::vector<std::string> ragged;
  for (const auto& listing : list_hdf5_fields(file))
    if (listing.is_ragged) ragged.push_back(listing.dataset);
  CHECK(ragged == std::vector<std::string>{"/x/text", "/x/lists"});
  CHECK(list_hdf5_fields(file).size() == 2);
  for (const std::string path : {"x/text", "x/lists"})
    CHECK(refusal_of(file, path) ==
          named(file, path,
                "its values are of variable length: open_hdf5_ragged reads them, and pad or pack "
                "make batches of them"));
  CHECK(
      contains(refusal_of(file, "x/link"), "reference to a region of a dataset; a field can hold"));
  CHECK(contains(refusal_of(file, "x/long"), "floating-point of 16 bytes in a format of its own"));
  CHECK(contains(refusal_of(file, "x"), "they have text, lists, link, long"));
}

TEST_CASE("hdf5: members of a single record are single values, and of no records have no samples",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "shapes.h5"};
  const auto record = record_type(record_style::packed);
  (void)writer.make("scalar", record.get(), {});
  (void)writer.make("none", record.get(), {0});
  const auto file = writer.close();
  for (const auto& listing : list_hdf5_fields(file))
    CHECK(listing.aside ==
          (listing.dataset.starts_with("/scalar") ? "a single value" : "no samples"));
  CHECK(open_hdf5(file, {{"scalar/id"}})->size() == 1);
  CHECK(open_hdf5(file, {{"none/id"}})->size() == 0);
}

TEST_CASE("hdf5: a damaged description of records is refused, not followed", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "whole.h5"};
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 8)};
  H5Tinsert(record.get(), "count", 2, H5T_STD_U16LE);
  const auto values = various_bytes(20 * 8);
  writer.write("x", record.get(), {20}, record.get(), values.data());
  const auto whole = bytes_of_file(writer.close());
  CHECK(open_hdf5(folder.write("whole.h5", whole), {{"x/count"}})->size() == 20);

  const auto damaged = [&](const std::vector<unsigned char>& from, std::size_t at,
                           unsigned char to) {
    const auto found = std::search(
        whole.begin(), whole.end(), from.begin(), from.end(),
        [](std::byte a, unsigned char b) { return std::to_integer<unsigned char>(a) == b; });
    REQUIRE(found != whole.end());
    auto bytes = whole;
    bytes[static_cast<std::size_t>(found - whole.begin()) + at] = static_cast<std::byte>(to);
    return folder.write("damaged.h5", bytes);
  };
  // The name, then its offset in the record.
  const std::vector<unsigned char> name{'c', 'o', 'u', 'n', 't', 0, 0, 0, 2, 0, 0, 0};
  // An integer of two bytes, its first bit and how many there are.
  const std::vector<unsigned char> integer{0x10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0};
  for (const auto offset : std::vector<unsigned char>{7, 8, 255}) {
    const auto file = damaged(name, 8, offset);
    const auto message = refusal_of(file, "x/count");
    INFO(message);
    CHECK(contains(message, file.string() + ": field 'x/count': "));
    CHECK_FALSE(contains(message, "no such dataset"));
    for (const auto& listing : list_hdf5_fields(file)) CHECK_FALSE(listing.refusal.empty());
  }
  // Newer libraries look at it themselves, and do not open the dataset.
  const auto is_refused_for = [](const std::string& message, const std::string& reason) {
    INFO(message);
    CHECK((contains(message, reason) || contains(message, "since 'x' cannot be opened: ")));
  };
  is_refused_for(refusal_of(damaged(integer, 10, 255), "x/count"),
                 "number of 255 bits from bit 0 of 2 bytes; a field can hold");
  is_refused_for(refusal_of(damaged(integer, 8, 1), "x/count"),
                 "number of 16 bits from bit 1 of 2 bytes");
}
