#include "hdf5/format/metadata.hpp"

#include "hdf5/format/checksum.hpp"
#include "hdf5/format/chunk_layout.hpp"
#include "hdf5/format/object_header.hpp"
#include "hdf5/format/page_bits.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::hdf5_cursor;
using detail::hdf5_metadata;
using detail::hdf5_metadata_error;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

/// Little-endian, as many bytes as told.
void put(std::vector<std::byte>& out, std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}

/// A file of a superblock, version 2, and what comes at byte 48.
std::vector<std::byte> file_with(const std::vector<std::byte>& content) {
  auto file = bytes_of("\x89HDF\r\n\x1A\n");
  for (const unsigned value : {2U, 8U, 8U, 0U}) put(file, value, 1);
  put(file, 0, 8);
  put(file, ~std::uint64_t{0}, 8);  // no extension
  file.resize(48);
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

constexpr std::uint64_t content_at = 48;

/// An object header of version 1 with one message.
std::vector<std::byte> header_with(unsigned type, const std::vector<std::byte>& message,
                                   unsigned flags = 0) {
  std::vector<std::byte> header;
  put(header, 1, 2);
  put(header, 1, 2);
  put(header, 1, 4);
  put(header, 8 + message.size(), 8);
  put(header, type, 2);
  put(header, message.size(), 2);
  put(header, flags, 4);
  header.insert(header.end(), message.begin(), message.end());
  return header;
}

/// What is said of a file whose dataset's header has this message alone.
std::string layout_refusal(unsigned type, const std::vector<std::byte>& message,
                           unsigned flags = 0) {
  const auto file = file_with(header_with(type, message, flags));
  hdf5_metadata metadata{file};
  return message_of<hdf5_metadata_error>(
      [&] { (void)detail::read_hdf5_chunk_layout(metadata, content_at); });
}

std::vector<std::byte> numbers(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) put(bytes, value, 1);
  return bytes;
}

}  // namespace

// The last is from the driver program of lookup3.c, by its author.
TEST_CASE("hdf5 metadata: checksums are lookup3's", "[dataset][host]") {
  CHECK(detail::hdf5_checksum({}) == 0xdeadbeef);
  CHECK(detail::hdf5_checksum(bytes_of("Four score and seven years ago")) == 0x17770551);
}

TEST_CASE("hdf5 metadata: a cursor reads numbers of any width and never beyond the end",
          "[dataset][host]") {
  const auto bytes = numbers({1, 2, 3, 4, 5, 6, 7, 8, 9});
  hdf5_cursor cursor{bytes, 100};
  CHECK(cursor.u8() == 1);
  CHECK(cursor.number(3) == 0x040302);
  CHECK(cursor.u16() == 0x0605);
  CHECK(cursor.offset() == 106);
  CHECK(cursor.remaining() == 3);
  CHECK(message_of<hdf5_metadata_error>([&] { (void)cursor.u32(); }) ==
        "byte 106: the block ends before what it should hold");
  CHECK(cursor.number(3) == 0x090807);
  CHECK(message_of<hdf5_metadata_error>([&] { cursor.skip(~std::uint64_t{0}); }) ==
        "byte 109: the block ends before what it should hold");
}

TEST_CASE("hdf5 metadata: a superblock is found where a user block may end", "[dataset][host]") {
  const std::uint64_t base = GENERATE(0U, 512U, 1024U, 8192U);
  auto file = file_with({});
  file.insert(file.begin(), base, std::byte{0});
  const hdf5_metadata metadata{file};
  CHECK(metadata.in_file(5) == base + 5);
  CHECK(metadata.offset_bytes() == 8);
}

TEST_CASE("hdf5 metadata: a file without a superblock that is known is refused",
          "[dataset][host]") {
  const auto refusal = [](const std::vector<std::byte>& file) {
    return message_of<hdf5_metadata_error>([&] { const hdf5_metadata metadata{file}; });
  };
  auto file = file_with({});
  CHECK(refusal({}) == "the file has no HDF5 superblock");
  CHECK(refusal(std::vector<std::byte>(5000)) == "the file has no HDF5 superblock");
  file.insert(file.begin(), 700, std::byte{0});  // where no user block ends
  CHECK(refusal(file) == "the file has no HDF5 superblock");
  file = file_with({});
  file[8] = std::byte{4};
  CHECK(refusal(file) == "byte 9: superblock version 4");
  file = file_with({});
  file[9] = std::byte{3};
  CHECK(refusal(file) == "byte 10: addresses or lengths of 3 bytes");
}

TEST_CASE("hdf5 metadata: blocks lie within the file", "[dataset][host]") {
  const auto file = file_with(numbers({1, 2, 3, 4}));
  hdf5_metadata metadata{file};
  CHECK(metadata.block(content_at, 4).bytes().size() == 4);
  const auto refusal = [&](std::uint64_t address, std::uint64_t bytes) {
    return message_of<hdf5_metadata_error>([&] { (void)metadata.block(address, bytes); });
  };
  CHECK(refusal(content_at, 5) == "byte 48: a block of 5 bytes reaches beyond the file's end");
  CHECK(refusal(53, 0) == "byte 53: a block of 0 bytes reaches beyond the file's end");
  CHECK(refusal(~std::uint64_t{0}, 1) ==
        "byte 18446744073709551615: a block of 1 bytes reaches beyond the file's end");
  CHECK(refusal(content_at, ~std::uint64_t{0}).find("reaches beyond") != std::string::npos);
  CHECK(message_of<hdf5_metadata_error>([&] { (void)metadata.checked_block(content_at, 4); }) ==
        "byte 48: a block of 4 bytes has a wrong checksum");
  CHECK(message_of<hdf5_metadata_error>([&] { (void)metadata.checked_block(content_at, 3); }) ==
        "byte 48: a block too short for its checksum");
}

TEST_CASE("hdf5 metadata: an object header that goes on in itself comes to an end",
          "[dataset][host]") {
  std::vector<std::byte> here;
  put(here, content_at + 16, 8);  // the block of messages that this message is in
  put(here, 24, 8);
  CHECK(layout_refusal(0x10, here) ==
        "byte 64: structures lie over each other or point back at themselves");
}

TEST_CASE("hdf5 metadata: layouts that are not read here are refused", "[dataset][host]") {
  constexpr unsigned dataspace = 0x01;
  constexpr unsigned layout = 0x08;
  CHECK(layout_refusal(layout, numbers({2, 0, 0, 0})) == "byte 73: layout version 2");
  CHECK(layout_refusal(layout, numbers({5, 2, 0, 0})) == "byte 73: layout version 5");
  CHECK(layout_refusal(layout, numbers({3, 1, 0, 0})) == "byte 74: a dataset that is not chunked");
  CHECK(layout_refusal(layout, numbers({3, 2, 1, 0})) == "byte 75: chunks of 1 stored dimensions");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2, 9})) == "byte 77: dimensions of 9 bytes");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2, 2, 255, 255, 255, 255, 0})) ==
        "byte 82: chunk index type 0");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2, 4, 255, 255, 255, 255, 2, 0, 0, 0})) ==
        "byte 85: chunks of no bytes, or of 4 GiB or more");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2, 1, 0, 4})) ==
        "byte 79: chunks of no bytes, or of 4 GiB or more");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2, 1, 3, 4, 6})) == "byte 80: chunk index type 6");
  CHECK(layout_refusal(layout, numbers({4, 2, 0, 2}), 0x02) ==
        "byte 72: a message kept outside of its object header");
  CHECK(layout_refusal(dataspace, numbers({3})) == "byte 73: dataspace version 3");
  CHECK(layout_refusal(dataspace, numbers({2, 33})) == "byte 74: a dataspace of 33 dimensions");
  CHECK(layout_refusal(0x05, numbers({1})) ==
        "byte 48: an object header without a dataspace and a layout that fit");
}

TEST_CASE("hdf5 metadata: pages' bits stand with the highest first", "[dataset][host]") {
  const auto bytes = numbers({0x80, 0x01});
  const detail::hdf5_page_bits bits{bytes};
  CHECK(bits[0]);
  CHECK_FALSE(bits[7]);
  CHECK_FALSE(bits[8]);
  CHECK(bits[15]);
  CHECK_FALSE(bits[16]);
}
