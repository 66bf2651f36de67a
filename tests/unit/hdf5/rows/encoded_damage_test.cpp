#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/io/map_files.hpp>

#include "hdf5/rows/encoded_rows.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const hdf5_options nothing_resident{.max_resident_bytes = 0};
constexpr std::size_t row_bytes = 10;
constexpr std::size_t block_bytes = 8 * row_bytes;

std::vector<std::byte> values() {
  return various_bytes(100 * row_bytes);
}

/// 100 rows in chunks of 8, deflated and then with a checksum.
std::filesystem::path write_file(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "x.h5"};
  writer.write("x", H5T_STD_U8LE, {100, row_bytes}, H5T_NATIVE_UINT8, values().data(),
               chunked("", {8, row_bytes}, [](hid_t creation) {
                 require_hdf5(H5Pset_deflate(creation, 1) >= 0 && H5Pset_fletcher32(creation) >= 0,
                              "set filters");
               }));
  writer.write("label", H5T_STD_U8LE, {100}, H5T_NATIVE_UINT8, values().data());
  return writer.close();
}

/// Message of `decode`.
std::string refusal_of(const encoded_blocks& blocks, std::span<const std::byte> stored,
                       std::size_t bytes = block_bytes, std::uint32_t skipped = 0) {
  std::vector<std::byte> out(bytes);
  const encoded_blocks::stored_block as{.bytes = stored.size(), .skipped = skipped};
  return message_of<hdf5_error>([&] { blocks.decode(0, stored, as, out); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Until its end files are read, not mapped.
class no_mapping {
 public:
  no_mapping() { map_files(false); }
  no_mapping(const no_mapping&) = delete;
  no_mapping& operator=(const no_mapping&) = delete;
  ~no_mapping() { map_files(before_); }

 private:
  bool before_ = may_map_files();
};

}  // namespace

TEST_CASE("hdf5 blocks: bytes that are not whole do not decode", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_file(folder);
  const auto data = open_hdf5(file, {{"x"}}, nothing_resident);
  const auto blocks = data->encoded();
  const auto whole = stored_bytes(*blocks, 0, 3);
  CHECK(refusal_of(*blocks, whole) == "[nothing was thrown]");
  const std::string begin = file.string() + ": field 'x': cannot be read: a chunk of ";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto flipped = whole;
    flipped[at] ^= std::byte{4};
    CHECK(contains(refusal_of(*blocks, flipped),
                   begin + std::to_string(whole.size()) +
                       " bytes does not decode: filter 3 (fletcher32): the checksum stored is 0x"));
    CHECK(contains(refusal_of(*blocks, std::span{whole}.first(at)),
                   begin + std::to_string(at) + " bytes does not decode: filter 3 (fletcher32): "));
  }
  for (const std::size_t bytes : {block_bytes - 1, block_bytes + 1})
    CHECK(contains(refusal_of(*blocks, whole, bytes), "does not decode: filter 1 (deflate): "));
  auto of_other_checksum = whole;
  of_other_checksum.back() ^= std::byte{4};
  CHECK(refusal_of(*blocks, of_other_checksum, block_bytes, 2) == "[nothing was thrown]");
  CHECK(contains(refusal_of(*blocks, whole, block_bytes, 1), "filter 3 (fletcher32): yields "));
  CHECK(contains(refusal_of(*blocks, whole, block_bytes, 3),
                 "a chunk of 80 bytes is stored, with no filter, in "));
}

TEST_CASE("hdf5 blocks: a chunk that is damaged in the file is returned as stored",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_file(folder);
  const auto chunk = stored_bytes(*open_hdf5(file, {{"x"}}, nothing_resident)->encoded(), 0, 5);
  auto bytes = bytes_of_file(file);
  const auto at = std::search(bytes.begin(), bytes.end(), chunk.begin(), chunk.end());
  REQUIRE(at != bytes.end());
  at[10] ^= std::byte{1};
  auto damaged = chunk;
  damaged[10] ^= std::byte{1};
  folder.write("x.h5", bytes);

  const auto data = open_hdf5(file, {{"x"}}, nothing_resident);
  const auto blocks = data->encoded();
  CHECK(stored_bytes(*blocks, 0, 5) == damaged);
  // The message is that of a read of the rows.
  const std::string said = refusal_of(*blocks, damaged);
  const std::string why = " does not decode: ";
  const auto of_rows = message_of<hdf5_error>([&] { (void)read_sample(*data, {41}); });
  REQUIRE(contains(of_rows, why));
  CHECK(contains(said, of_rows.substr(of_rows.find(why))));
  for (const std::uint64_t block : {4U, 6U})
    CHECK(fault_of_block(*blocks, 0, block, row_bytes, values()) == "");
}

TEST_CASE("hdf5 blocks: a file that others change ends in an error that names field and sample",
          "[dataset][host]") {
  const temporary_directory folder;
  const bool is_mapped = GENERATE(true, false);
  const auto change = GENERATE(file_change::cut_to_nothing, file_change::cut_within_its_last_page,
                               file_change::grown, file_change::overwritten);
  CAPTURE(is_mapped, static_cast<int>(change));
  const auto file = write_file(folder);
  let_age(file);
  const auto bytes = std::filesystem::file_size(file);
  const auto data = [&] {
    if (is_mapped) return open_hdf5(file, {{"x"}, {"label"}}, nothing_resident);
    const no_mapping until_opened;
    return open_hdf5(file, {{"x"}, {"label"}}, nothing_resident);
  }();
  const auto blocks = data->encoded();
  const auto whole = stored_bytes(*blocks, 0, 5);
  change_file(file, change);
  const auto message = message_of<hdf5_error>([&] { (void)stored_bytes(*blocks, 0, 5); });
  CHECK(contains(message, file.string() + ": field 'x', sample 40"));
  if (change == file_change::cut_to_nothing && !is_mapped)
    CHECK(message == message_of<hdf5_error>([&] { (void)read_sample(*data, {40}); }));
  else
    CHECK(contains(message, words_for(change, bytes)));
  const auto of_label = message_of<dataset_error>([&] { (void)stored_bytes(*blocks, 1, 5); });
  CHECK(contains(of_label,
                 change == file_change::cut_to_nothing ? file.string() : words_for(change, bytes)));
  // Chunks that were read before are whole.
  CHECK(refusal_of(*blocks, whole) == "[nothing was thrown]");
}

TEST_CASE("hdf5 blocks: a chunk that is stored in no bytes fails as its rows do",
          "[dataset][host]") {
  const temporary_directory folder;
  detail::hdf5_resolved_field found{.name = "x",
                                    .spec = {"x", element_type::u8, {row_bytes}},
                                    .samples = 16,
                                    .row_bytes = row_bytes,
                                    .storage = {}};
  found.file = std::make_shared<const detail::local_file>(folder.write("x.bin", values()));
  found.storage.chunk = {8, row_bytes};
  found.storage.stored = detail::hdf5_storage_layout::layout::chunked;
  found.storage.filters = detail::hdf5_filters{{{1, "", {6}}}};
  found.storage.element_bytes = 1;
  found.storage.stored_bytes = 1;
  found.storage.fill = {std::byte{}};
  detail::hdf5_chunk_map map{{16, row_bytes}, {8, row_bytes}};
  map[0] = {.address = 100, .bytes = 0};
  found.chunks = std::make_shared<const detail::hdf5_chunk_map>(map);
  const auto rows = detail::make_hdf5_encoded_rows(found);
  REQUIRE(rows);
  const auto stored = rows->stored(0);
  CHECK(stored.bytes == block_bytes);
  CHECK(stored.skipped == 1);
  std::vector<std::byte> out(stored.bytes);
  CHECK(contains(message_of<hdf5_error>([&] { rows->read(0, out); }),
                 "field 'x', sample 0, byte 100: cannot be read: chunk 0 (0 bytes at byte 100) "
                 "does not decode: filter 1 (deflate)"));
  CHECK_NOTHROW(rows->read(1, out));
}
