#include "formats/tfrecord/index.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/tfrecord.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/memory_file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::joined;
using namespace test::tfrecord;

namespace {

byte_vector file_of(std::int64_t first, std::int64_t count, std::size_t more = 0) {
  byte_vector file;
  for (std::int64_t i = first; i < first + count; ++i)
    file = joined({file, framed(example({{"x", int64_feature({i})},
                                         {"filling", bytes_feature({byte_vector(more)})}}))});
  return file;
}

std::int64_t last_value(const std::string& file, const std::string& index_folder) {
  const auto data = open_tfrecord({file}, {.fields = {"x"}, .index_folder = index_folder});
  std::int64_t value = 0;
  std::memcpy(&value, test::read_sample(*data, {data->size() - 1})[0].data(), sizeof value);
  return value;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    found.push_back(entry.path());
  return found;
}

}  // namespace

TEST_CASE("tfrecord index: small and large records in any mixture are all found",
          "[dataset][host]") {
  byte_vector file;
  std::vector<std::uint64_t> ends;
  for (const std::size_t bytes :
       std::initializer_list<std::size_t>{0, 3, 70000, 1, 65520, 200000, 600000, 5, 5, 900000, 0}) {
    file = joined({file, framed(byte_vector(bytes, std::byte{9}))});
    ends.push_back(file.size());
  }
  CHECK(detail::index_tfrecord(*test::memory_file(file)) == ends);
}

TEST_CASE("tfrecord index: an index in a folder is used again, until the file changes",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const test::temporary_directory kept;
  const std::string file = folder.write("a", file_of(0, 20));
  CHECK(last_value(file, kept.path()) == 19);
  REQUIRE(files_in(kept.path()).size() == 1);
  const auto index = files_in(kept.path()).front();
  CHECK(index.filename().string().starts_with("a-"));
  const auto written = std::filesystem::last_write_time(index);
  CHECK(last_value(file, kept.path()) == 19);
  CHECK(std::filesystem::last_write_time(index) == written);
  (void)folder.write("a", file_of(30, 9, 40));
  CHECK(last_value(file, kept.path()) == 38);
  CHECK(files_in(kept.path()).size() == 1);
}

TEST_CASE("tfrecord index: damaged ones and other files' are not used", "[dataset][host]") {
  const auto bytes = file_of(0, 5);
  const auto file = test::memory_file(bytes);
  const auto ends = detail::index_tfrecord(*file);
  const auto stored = detail::stored_tfrecord_index(*file, ends);
  CHECK(detail::read_tfrecord_index(stored, *file) == ends);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    auto damaged = stored;
    damaged[i] ^= std::byte{4};
    REQUIRE(detail::read_tfrecord_index(damaged, *file).empty());
    REQUIRE(detail::read_tfrecord_index(std::span{stored}.first(i), *file).empty());
  }
  const auto longer = file_of(0, 6);
  CHECK(detail::read_tfrecord_index(stored, *test::memory_file(longer)).empty());
  // Ends that are no records', with a right checksum.
  for (std::vector<std::uint64_t> wrong : {std::vector<std::uint64_t>{15, bytes.size()},
                                           {bytes.size(), bytes.size()},
                                           {bytes.size() - 20},
                                           {std::uint64_t{1} << 60, bytes.size()}})
    CHECK(detail::read_tfrecord_index(detail::stored_tfrecord_index(*file, wrong), *file).empty());
}

TEST_CASE("tfrecord index: DALI's index is used if it is of this file, as it is now",
          "[dataset][host]") {
  const byte_vector bytes = file_of(0, 40, 100);
  const auto ends = detail::index_tfrecord(*test::memory_file(bytes));
  std::string text;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    text += std::to_string(begin) + ' ' + std::to_string(ends[i] - begin) + '\n';
  }
  const auto read = [&](const std::string& index, const byte_vector& file) {
    return detail::read_dali_index(index, *test::memory_file(file));
  };
  CHECK(read(text, bytes) == ends);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '7' ? '8' : '7';
    REQUIRE(read(damaged, bytes).empty());
    REQUIRE(read(text.substr(0, i), bytes).empty());
  }
  const std::string whole = std::to_string(bytes.size());
  for (const std::string& wrong :
       {"0 " + whole + '\n', text + "0 16\n", std::string{"0 18446744073709551615\n"},
        std::string{"-1 20\n"}, std::string{"MMIDIDX"}})
    CHECK(read(wrong, bytes).empty());
  CHECK(read(text, joined({bytes, file_of(0, 1)})).empty());
  byte_vector damaged = bytes;
  damaged[3] ^= std::byte{1};  // a length
  CHECK(read(text, damaged).empty());

  // The head of a record that is not looked at is damaged: only a scan would find it.
  damaged = bytes;
  damaged[static_cast<std::size_t>(ends[2])] ^= std::byte{1};
  const test::temporary_directory folder;
  for (const std::string name : {"a.tfrecord.idx", "a.idx"}) {
    const std::string file = folder.write("a.tfrecord", damaged);
    CHECK_THROWS_AS(last_value(file, ""), dataset_error);
    const std::string index = folder.write(name, test::bytes_in(text));
    CHECK(last_value(file, "") == 39);
    const test::log_capture log;
    (void)folder.write("a.tfrecord", file_of(30, 9, 40));
    CHECK(last_value(file, "") == 38);
    CHECK(test::contains(log.text(), "the index " + index + " is not used: it is of another file"));
    std::filesystem::remove(index);
  }
  // One that memory could not hold is not read.
  const std::string file = folder.write("b.tfrecord", file_of(0, 3));
  const std::string index = folder.write("b.idx", test::bytes_in("0 100\n"));
  std::filesystem::resize_file(index, std::uintmax_t{1} << 42);
  const test::log_capture log;
  CHECK(last_value(file, "") == 2);
  CHECK(test::contains(log.text(), "the index " + index + " is not used: it is of another file"));
}

TEST_CASE("tfrecord index: a folder that cannot be written to is logged, and all is read",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write("a", file_of(0, 3));
  const test::log_capture log;
  CHECK(last_value(file, (folder.path() / "none").string()) == 2);
  CHECK(test::contains(log.text(), "cannot be written; check that its folder exists"));
}
