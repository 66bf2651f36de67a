#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>

#include "formats/idx/array.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

using namespace feedline;
using test::byte_vector;
using test::bytes_of;
using test::gzip_bytes;
using test::idx_file_bytes;
using test::joined;

namespace {

/// Reads a file's bytes from memory.
detail::idx_array parse(std::span<const std::byte> file) {
  detail::memory_source source{file};
  return detail::read_idx(source, {"a.idx", "x"});
}

/// The error that a file's bytes give, or nothing if they are an IDX file.
std::optional<dataset_error> error_of(std::span<const std::byte> file) {
  try {
    (void)parse(file);
    return std::nullopt;
  } catch (const dataset_error& error) {
    return error;
  }
}

std::string message_of(std::span<const std::byte> file) {
  const auto error = error_of(file);
  return error ? error->what() : "[nothing was thrown]";
}

const std::string at = "a.idx: field 'x', byte ";
const std::string of_decompressed = " (the byte is the decompressed file's)";

}  // namespace

TEST_CASE("idx: a path that cannot be read gives an error that names it, and why",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto refusal = [](const std::string& path) {
    return test::message_of<dataset_error>([&] { (void)open_idx_file(path, "x"); });
  };
  const std::string missing = folder.path() / "missing";
  CHECK(refusal(missing) == missing +
                                ": field 'x': cannot be opened: No such file or directory; check "
                                "the path and its permissions");
  CHECK(refusal(folder.path()) ==
        folder.path().string() + ": field 'x': is a directory; name a file in it");
  // A file that opens, but whose first byte cannot be read.
  CHECK(refusal("/proc/self/mem") ==
        "/proc/self/mem: field 'x', byte 0: cannot be read: Input/output error");
}

TEST_CASE("idx: a file that is no IDX file is refused at the byte that tells", "[dataset][host]") {
  CHECK(message_of(bytes_of({0x50, 0x4b, 3, 4, 0})) ==
        at + "0: not an IDX file: it begins with 50 4b 03 04, and not with two zero bytes; check "
             "that this is the right file");
  CHECK(
      message_of(bytes_of({0, 0, 0x0a, 1, 0, 0, 0, 1, 0})) ==
      at +
          "2: not an IDX file: 0x0a is not an element type of the format (08, 09, 0b, 0c, 0d, 0e); "
          "check that this is the right file");
  CHECK(message_of(bytes_of({0, 0, 8, 0, 1})) ==
        at + "3: the header announces no dimensions; a dataset needs one that counts its samples");
}

TEST_CASE("idx: a file that holds nothing is refused at the dimension that is 0",
          "[dataset][host]") {
  CHECK(message_of({}) == at + "0: cut short: an IDX file begins with a magic number of 4 bytes; "
                               "get the file again");
  CHECK(message_of(test::idx_header_bytes(0x08, {0, 28, 28})) ==
        at + "4: the file holds zero samples");
  CHECK(message_of(test::idx_header_bytes(0x08, {5, 28, 0})) ==
        at + "12: a dimension is 0, so a sample would hold nothing");
}

TEST_CASE("idx: a file cut short anywhere is refused, telling where it ends", "[dataset][host]") {
  const byte_vector whole = idx_file_bytes(0x0b, {3, 2}, 12);
  REQUIRE_FALSE(error_of(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto error = error_of(std::span{whole}.first(size));
    REQUIRE(error.has_value());
    CHECK(error->offset() == size);
    CHECK(std::string{error->what()}.find("cut short") != std::string::npos);
  }
  CHECK(message_of(std::span{whole}.first(6)) ==
        at + "6: cut short within the header, which announces 2 dimensions; get the file again");
  CHECK(message_of(std::span{whole}.first(20)) ==
        at + "20: cut short: the header announces int16[3, 2], so it should be 24 bytes, but "
             "it ends here; get the file again");
}

TEST_CASE("idx: an over-long file is refused, telling where it should end", "[dataset][host]") {
  const byte_vector longer = idx_file_bytes(0x08, {3, 2}, 7);
  CHECK(message_of(longer) ==
        at + "18: over-long: the header announces uint8[3, 2], so it should end here, but it "
             "is 19 bytes; the header or the file is damaged, get it again");
  CHECK(message_of(gzip_bytes(longer)) ==
        at +
            "18: over-long: the header announces uint8[3, 2], so it should end here, but it "
            "continues; the header or the file is damaged, get it again" +
            of_decompressed);
}

TEST_CASE("idx: dimensions whose product overflows are refused", "[dataset][host]") {
  const auto header = GENERATE(
      test::idx_header_bytes(0x08, {0x80000000, 0x80000000, 4}),        // 2^64
      test::idx_header_bytes(0x0e, {0x80000000, 0x40000000}),           // 2^61 elements of 8 bytes
      test::idx_header_bytes(0x08, {0xffffffff, 0xffffffff, 2, 1, 1}),  // overflows, then does not
      test::idx_header_bytes(0x08, {0xffffffff, 641, 6700417}));        // 2^64 - 1, and the header
  CHECK(message_of(header).find("more bytes than 64 bits can count") != std::string::npos);
  CHECK(message_of(test::idx_header_bytes(0x0e, {0xffffffff, 0xffffffff})) ==
        at + "4: the header announces float64[4294967295, 4294967295], more bytes than 64 bits can "
             "count; the file is damaged, get it again");
}

TEST_CASE("idx: a header's claim gets no memory before the bytes are there", "[dataset][host]") {
  // 2^62 bytes are announced: to allocate them would fail with another message.
  const byte_vector plain =
      joined(test::idx_header_bytes(0x08, {0x80000000, 0x80000000}), bytes_of({1, 2, 3}));
  CHECK(message_of(plain) ==
        at + "15: cut short: the header announces uint8[2147483648, 2147483648], so it should "
             "be 4611686018427387916 bytes, but it ends here; get the file again");
  const auto packed = error_of(gzip_bytes(plain));
  REQUIRE(packed.has_value());
  CHECK(packed->offset() == 15);
  CHECK(packed->message().find("cut short") == 0);
}

TEST_CASE("idx: an endless gzip stream is read only to the end of the header's samples",
          "[dataset][host]") {
  byte_vector bomb = idx_file_bytes(0x08, {10}, 10);
  bomb.resize(64 << 20);
  const auto error = error_of(gzip_bytes(bomb));
  REQUIRE(error.has_value());
  CHECK(error->offset() == 18);
  CHECK(error->message().find("over-long") == 0);
}

TEST_CASE("idx: a gzip file cut short anywhere is refused", "[dataset][host]") {
  const byte_vector whole = gzip_bytes(idx_file_bytes(0x08, {300, 3}, 900));
  REQUIRE_FALSE(error_of(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto error = error_of(std::span{whole}.first(size));
    REQUIRE(error.has_value());
    CHECK(error->offset() == size);
    CHECK(error->field() == "x");
  }
  CHECK(message_of(std::span{whole}.first(whole.size() - 1)) ==
        at + std::to_string(whole.size() - 1) +
            ": the gzip stream ends early; the file is cut short, get it again");
}

TEST_CASE("idx: a gzip file with a damaged byte is refused, or gives the same samples",
          "[dataset][host]") {
  const byte_vector plain = idx_file_bytes(0x08, {300, 3}, 900);
  const byte_vector whole = gzip_bytes(plain);
  int refused = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    byte_vector damaged = whole;
    damaged[place] ^= std::byte{0x40};
    try {
      // gzip's own header holds bytes that say nothing of the content, such as a time.
      const auto array = parse(damaged);
      const auto elements = array.elements.bytes();
      CHECK(std::equal(elements.begin(), elements.end(), plain.begin() + 12, plain.end()));
    } catch (const dataset_error& error) {
      ++refused;
      CHECK(error.offset().has_value());
    }
  }
  CHECK(refused > static_cast<int>(whole.size()) - 10);
}

TEST_CASE("idx: a gzip file with a wrong checksum or length is refused, though all elements came",
          "[dataset][host]") {
  byte_vector file = gzip_bytes(idx_file_bytes(0x08, {5}, 5));
  const std::size_t back = GENERATE(8u, 4u);  // CRC-32, then the length: RFC 1952, 2.3.1
  file[file.size() - back] ^= std::byte{1};
  const std::string message = message_of(file);
  CHECK(message.find("the gzip stream is damaged: ") != std::string::npos);
  CHECK(message.find("; get the file again") != std::string::npos);
}

TEST_CASE("idx: a gzip file followed by something else is refused, telling where",
          "[dataset][host]") {
  const byte_vector whole = gzip_bytes(idx_file_bytes(0x08, {5}, 5));
  CHECK(message_of(joined(whole, bytes_of({0}))) ==
        at + std::to_string(whole.size()) +
            ": the gzip stream ends here, but the file continues with something else; cut the file "
            "here, or get it again");
  // A stream that begins like another member, but is not one.
  CHECK(error_of(joined(whole, bytes_of({0x1f, 0x8b, 0x07}))).has_value());
  CHECK(message_of(joined(whole, bytes_of({0x1f, 0x8b}))).find("ends early") != std::string::npos);
}

TEST_CASE("idx: a compressed file that is no IDX file is refused, by its decompressed bytes",
          "[dataset][host]") {
  CHECK(message_of(gzip_bytes(bytes_of({'t', 'e', 'x', 't'}))) ==
        at +
            "0: not an IDX file: it begins with 74 65 78 74, and not with two zero bytes; check "
            "that this is the right file" +
            of_decompressed);
  CHECK(message_of(gzip_bytes({})) ==
        at + "0: cut short: an IDX file begins with a magic number of 4 bytes; get the file again" +
            of_decompressed);
}
