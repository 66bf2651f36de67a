#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/cold_file.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

using lengths = std::vector<std::uint64_t>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

lengths some_lengths() {
  lengths of;
  for (std::uint64_t i = 0; i < 40; ++i) of.push_back(i % 5 == 3 ? 0 : i * 7 % 23);
  return of;
}

hdf5_layout compact() {
  return {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }};
}

std::string refusal_of(const fs::path& file, const std::string& name,
                       const hdf5_options& options = {}) {
  return message_of<hdf5_error>([&] { (void)open_hdf5_ragged(file, {name}, options); });
}

}  // namespace

TEST_CASE("hdf5 ragged: a file that is not in memory is read as well, by calls and after hints",
          "[dataset][host]") {
  const temporary_directory folder;
  lengths of(400, 20'000);
  for (std::size_t i = 0; i < of.size(); i += 3) of[i] = i;
  const auto values = various_values(of, 4);
  hdf5_writer writer{folder.path() / "x.h5"};
  write_sequences(writer, "x", H5T_STD_I32BE, H5T_NATIVE_INT32, values);
  const auto file = writer.close();
  (void)drop_from_memory(file);  // where the file system lets it
  const auto dataset = open_hdf5_ragged(file, {"x"});
  std::vector<sample_index> all;
  for (std::uint64_t i = of.size() + 3; i-- > 0;) all.push_back({i});  // three are not there
  dataset->prefetch(all);
  CHECK(values_of(*dataset) == values);
  (void)drop_from_memory(file);
  CHECK(values_of(*dataset) == values);
  fs::resize_file(file, 4096);
  CHECK(contains(message_of<dataset_error>([&] { (void)values_of(*dataset); }), file.string()));
}

TEST_CASE(
    "hdf5 ragged: values that only the library can read are kept in memory, and a warning says why",
    "[dataset][host]") {
  const temporary_directory folder;
  auto lengths_of = some_lengths();
  lengths_of.resize(150, 3);
  const auto values = various_values(lengths_of, 4);
  hdf5_writer writer{folder.path() / "x.h5"};
  write_sequences(writer, "x", H5T_STD_I32BE, H5T_NATIVE_INT32, values, compact());
  write_strings(writer, "text", H5T_CSET_UTF8, {"one", nullptr, "", "three"}, compact());
  const auto file = writer.close();
  {
    const log_capture log;
    const auto dataset = open_hdf5_ragged(file, {"x"});
    CHECK(dataset->element() == field{"x", element_type::i32, {}});
    CHECK(values_of(*dataset) == values);
    CHECK_FALSE(dataset->wants_prefetch());
    CHECK(log.lines() == 1);
    CHECK(contains(log.text(), file.string() +
                                   ": the values of 'x' were read into memory by the HDF5 library, "
                                   "one thread at a time: its values lie within its header"));
    CHECK(values_of(*open_hdf5_ragged(file, {"text"})) == values_by_library(file, "text"));
  }
  std::size_t bytes = 0;
  for (const auto& value : values) bytes += value.size();
  const std::size_t places = 12 * values.size();
  CHECK_NOTHROW(open_hdf5_ragged(file, {"x"}, {.max_host_cache_bytes = places + bytes + 6'000}));
  CHECK(refusal_of(file, "x", {.max_host_cache_bytes = places + bytes - 1}) ==
        file.string() + ": field 'x': its values take more than the " +
            std::to_string(places + bytes - 1) +
            " bytes that hdf5_options::max_host_cache_bytes allows: 128 of 150 samples have " +
            std::to_string(bytes - 22 * 12) +
            ". They would be kept in memory, read through the HDF5 library, because its values lie "
            "within its header (compact layout). Allow more, or write them again: h5repack");
  CHECK(refusal_of(file, "x", {.max_host_cache_bytes = 22 * 150 - 1}) ==
        file.string() +
            ": field 'x': has 150 samples; to find where their values are takes 22 bytes of memory "
            "each, more than the 3299 that hdf5_options::max_host_cache_bytes allows");
}

TEST_CASE("hdf5 ragged: a value that the library cannot read is named, and loses all",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  auto of = lengths(100, 3);
  of[77] = 5;
  write_sequences(writer, "x", H5T_STD_U8LE, H5T_NATIVE_UINT8, various_values(of, 1), compact());
  const auto file = writer.close();
  auto bytes = bytes_of_file(file);
  // Rows: a length, an address, which is that of the only collection, an index.
  const auto find = [&](const std::string& text) {
    return std::search(bytes.begin(), bytes.end(), text.begin(), text.end(),
                       [](std::byte a, char b) { return a == std::byte(b); });
  };
  const auto collection = static_cast<std::size_t>(find("GCOL") - bytes.begin());
  const auto row = find(std::string{"\5\0\0\0", 4} + static_cast<char>(collection & 0xFFU) +
                        static_cast<char>(collection >> 8U & 0xFFU));
  REQUIRE(row != bytes.end());
  row[4] ^= std::byte{0x40};
  const auto damaged = folder.write("damaged.h5", bytes);
  const auto message = refusal_of(damaged, "x");
  INFO(message);
  CHECK(contains(message, damaged.string() + ": field 'x', sample 77: cannot be read: "));
  CHECK(contains(message, "heap"));
}

TEST_CASE("hdf5 ragged: a file that this program writes to is read through the library",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_values(some_lengths(), 2);
  const log_capture log;
  {
    hdf5_writer writer{folder.path() / "open.h5"};
    write_sequences(writer, "x", H5T_STD_I16LE, H5T_NATIVE_INT16, values);
    CHECK(values_of(*open_hdf5_ragged(folder.path() / "open.h5", {"x"})) == values);
    CHECK(contains(log.text(), "its file is open for writing in this program"));
  }
}

TEST_CASE("hdf5 ragged: each opening function tells of the other", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto values = various_bytes(24);
  writer.write("plain", H5T_STD_U8LE, {24}, H5T_NATIVE_UINT8, values.data());
  write_sequences(writer, "sequences", H5T_STD_U8LE, H5T_NATIVE_UINT8, various_values({1, 2}, 1));
  write_strings(writer, "strings", H5T_CSET_UTF8, {"a", "b"});
  const auto file = writer.close();
  CHECK(refusal_of(file, "plain") ==
        file.string() + ": field 'plain': its values are all of one length: open_hdf5 reads them");
  for (const std::string name : {"sequences", "strings"})
    CHECK(message_of<hdf5_error>([&] { (void)open_hdf5(file, {{name}}); }) ==
          file.string() + ": field '" + name +
              "': its values are of variable length: open_hdf5_ragged reads them, and pad or pack "
              "make batches of them");
  for (const auto& listing : list_hdf5_fields(file))
    CHECK(listing.is_ragged == (listing.dataset != "/plain"));
}

TEST_CASE("hdf5 ragged: datasets that are no sequences of numbers are refused with the reason",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const detail::hdf5_type_id sequence{H5Tvlen_create(H5T_STD_U8LE)};
  const detail::hdf5_type_id nested{H5Tvlen_create(sequence.get())};
  const detail::hdf5_type_id references{H5Tvlen_create(H5T_STD_REF_DSETREG)};
  (void)writer.make("grid", sequence.get(), {2, 3});
  (void)writer.make("scalar", sequence.get(), {});
  (void)writer.make("none", sequence.get(), {0});
  (void)writer.make("nested", nested.get(), {2});
  (void)writer.make("references", references.get(), {2});
  const auto file = writer.close();
  CHECK(contains(refusal_of(file, "grid"),
                 "field 'grid': has 2 dimensions, so that a sample would be several sequences; one "
                 "of one dimension can be read, a sequence a sample"));
  CHECK(open_hdf5_ragged(file, {"scalar"})->size() == 1);
  CHECK(open_hdf5_ragged(file, {"none"})->size() == 0);
  CHECK(contains(refusal_of(file, "nested"),
                 "field 'nested': its values are sequences, whose elements cannot be read: its "
                 "values are of HDF5 "
                 "type class 'variable-length'"));
  CHECK(contains(refusal_of(file, "references"), "reference to a region of a dataset"));
  CHECK(contains(refusal_of(file, "missing"), "there is no such dataset; the file has "));
}

TEST_CASE("hdf5 ragged: a file that others change after it was opened ends in an error",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto change = GENERATE(file_change::cut_to_nothing, file_change::cut_within_its_last_page,
                               file_change::grown, file_change::overwritten);
  CAPTURE(static_cast<int>(change));
  hdf5_writer writer{folder.path() / "x.h5"};
  const auto values = various_values(lengths(2'000, 9), 4);
  write_sequences(writer, "x", H5T_STD_I32LE, H5T_NATIVE_INT32, values);
  const auto file = writer.close();
  let_age(file);
  const auto bytes = fs::file_size(file);
  const auto dataset = open_hdf5_ragged(file, {"x"});
  CHECK(values_of(*dataset) == values);
  change_file(file, change);
  CHECK(contains(message_of<dataset_error>([&] { (void)values_of(*dataset); }),
                 change == file_change::cut_to_nothing ? file.string() : words_for(change, bytes)));
}
