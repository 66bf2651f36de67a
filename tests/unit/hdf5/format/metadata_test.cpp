#include "hdf5/format/metadata.hpp"

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

/// Little-endian, with the given number of bytes.
void put(std::vector<std::byte>& out, std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}

constexpr std::uint64_t content_at = 48;

/// A file of a superblock, version 2, and what comes at byte 48: the superblock's extension, if it
/// has one.
std::vector<std::byte> file_with(const std::vector<std::byte>& content,
                                 bool has_extension = false) {
  auto file = bytes_of("\x89HDF\r\n\x1A\n");
  for (const unsigned value : {2U, 8U, 8U, 0U}) put(file, value, 1);
  put(file, 0, 8);
  put(file, has_extension ? content_at : ~std::uint64_t{0}, 8);
  file.resize(content_at);
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

constexpr unsigned attribute = 0x0C;
constexpr unsigned continuation = 0x10;
constexpr unsigned cache_image = 0x18;

/// An object header of version 1 with one message.
std::vector<std::byte> header_1(unsigned type, const std::vector<std::byte>& message) {
  std::vector<std::byte> header;
  put(header, 1, 2);
  put(header, 1, 2);
  put(header, 1, 4);
  put(header, 8 + message.size(), 8);
  put(header, type, 2);
  put(header, message.size(), 2);
  put(header, 0, 4);
  header.insert(header.end(), message.begin(), message.end());
  return header;
}

/// One of version 2, its checksum zeros.
std::vector<std::byte> header_2(unsigned type, const std::vector<std::byte>& message) {
  auto header = bytes_of("OHDR");
  put(header, 2, 1);
  put(header, 0, 1);
  put(header, 4 + message.size(), 1);
  put(header, type, 1);
  put(header, message.size(), 2);
  put(header, 0, 1);
  header.insert(header.end(), message.begin(), message.end());
  put(header, 0, 4);
  return header;
}

/// Address and size of the block in which messages continue.
std::vector<std::byte> place(std::uint64_t address, std::uint64_t bytes) {
  std::vector<std::byte> message;
  put(message, address, 8);
  put(message, bytes, 8);
  return message;
}

bool finds_cache_image(const std::vector<std::byte>& file) {
  hdf5_metadata metadata{file};
  return detail::has_cache_image(metadata);
}

std::string extension_refusal(const std::vector<std::byte>& header) {
  return message_of<hdf5_metadata_error>([&] { (void)finds_cache_image(file_with(header, true)); });
}

std::vector<std::byte> numbers(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) put(bytes, value, 1);
  return bytes;
}

}  // namespace

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
}

TEST_CASE("hdf5 metadata: an extension of the superblock tells of a cache image",
          "[dataset][host]") {
  for (const auto header : {header_1, header_2}) {
    CHECK(finds_cache_image(file_with(header(cache_image, numbers({0})), true)));
    CHECK_FALSE(finds_cache_image(file_with(header(attribute, numbers({0})), true)));
    CHECK_FALSE(finds_cache_image(file_with(header(cache_image, numbers({0})), false)));
  }
}

TEST_CASE("hdf5 metadata: a cache image is found in an object header's continuation",
          "[dataset][host]") {
  constexpr std::uint64_t behind = 48;  // offset of the continuation in the content
  auto content = header_1(continuation, place(content_at + behind, 9));
  content.resize(behind);
  put(content, cache_image, 2);
  put(content, 1, 2);
  put(content, 0, 5);
  CHECK(finds_cache_image(file_with(content, true)));

  content = header_2(continuation, place(content_at + behind, 13));
  content.resize(behind);
  const auto signature = bytes_of("OCHK");
  content.insert(content.end(), signature.begin(), signature.end());
  put(content, cache_image, 1);
  put(content, 1, 2);
  put(content, 0, 2);
  put(content, 0, 4);
  CHECK(finds_cache_image(file_with(content, true)));
}

TEST_CASE("hdf5 metadata: reading an object header that continues in itself ends",
          "[dataset][host]") {
  // The block of messages that this message is in.
  CHECK(extension_refusal(header_1(continuation, place(content_at + 16, 24))) ==
        "byte 64: structures overlap or refer to themselves");
}

TEST_CASE("hdf5 metadata: an object header that cannot be followed is refused", "[dataset][host]") {
  CHECK(extension_refusal(numbers({7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) ==
        "byte 49: version 7 where 1 is known");
  CHECK(extension_refusal(header_1(continuation, place(~std::uint64_t{0}, 8))) ==
        "byte 88: a header continues at an undefined address");
  CHECK(extension_refusal(header_1(continuation, place(1000, 8))) ==
        "byte 1000: a block of 8 bytes reaches beyond the file's end");
  CHECK(extension_refusal(header_2(continuation, place(content_at, 31))) ==
        "byte 50: not the signature OCHK");
}
