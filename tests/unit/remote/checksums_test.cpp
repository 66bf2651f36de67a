/// Checksums that stores keep of objects: compared where all bytes of an object came, and nowhere
/// else.

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "remote/answer/judge_answer.hpp"
#include "remote/answer/object_checksum.hpp"
#include "remote/cache/cache_folder.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::object_checksum;
using detail::open_file;
using detail::running_checksum;

namespace {

object_checksum told(const std::vector<std::pair<std::string, std::string>>& headers) {
  object_checksum made;
  for (const auto& [name, value] : headers) made.add(name, value);
  return made;
}

/// The checksum of bytes that come in pieces.
std::string sum_of(const std::string& kind, std::span<const std::byte> bytes, std::size_t piece) {
  const std::size_t digits = kind == "sha256" ? 44 : kind == "crc64nvme" ? 12 : 8;
  auto sum = running_checksum::of(told({{kind, std::string(digits, 'A')}}));
  REQUIRE(sum);
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    sum->add(bytes.subspan(at, std::min(piece, bytes.size() - at)));
  return sum->text();
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

/// A store that tells checksums of its one object.
struct store {
  explicit store(std::size_t size) : bytes{numbered(size)} { server.put("/b/x", bytes, "\"v\""); }

  /// The next answers have these headers. @param times 0: all have.
  void tell(const std::string& headers, int times = 0) {
    server.set_script([this, headers, times, made = std::make_shared<std::atomic<int>>(0)](
                          const http_request& request) -> http_fault {
      const auto range = request.range();
      if (!range || (times != 0 && ++*made > times)) return {};
      const std::uint64_t length =
          std::min<std::uint64_t>(range->second + 1, bytes.size()) - range->first;
      return {http_fault::kind::headers,
              "Content-Length: " + std::to_string(length) + "\r\nETag: \"v\"\r\n" + headers};
    });
  }
  [[nodiscard]] detail::byte_file_ptr open() const { return open_file(server.address("/b/x")); }

  http_server server;
  std::vector<std::byte> bytes;
};

const std::string kinds[] = {"crc32c", "crc32", "crc64nvme", "sha256"};

}  // namespace

TEST_CASE("checksums: known values of all kinds, whatever the pieces", "[remote][host]") {
  const auto digits = bytes_of("123456789");
  for (const std::size_t piece : {1U, 4U, 9U}) {
    CHECK(sum_of("crc32c", digits, piece) == "4waSgw==");
    CHECK(sum_of("crc32", digits, piece) == "y/Q5Jg==");
    CHECK(sum_of("crc64nvme", digits, piece) == "rosUhgp5mIg=");
    CHECK(sum_of("sha256", digits, piece) == "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
  }
  const auto many = bytes_of(std::string(1'000'000, 'a'));
  CHECK(sum_of("sha256", many, 77'777) == "zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
  const auto bytes = numbered(10'000);
  for (const std::string& kind : kinds)
    for (const std::size_t piece : {1U, 7U, 8U, 63U, 64U, 4099U})
      CHECK(sum_of(kind, bytes, piece) == sum_of(kind, bytes, bytes.size()));
  CHECK(sum_of("sha256", {}, 1) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST_CASE("checksums: composite ones and those without form are not compared", "[remote][host]") {
  CHECK(running_checksum::of(told({{"crc32c", "4waSgw=="}})));
  CHECK(running_checksum::of(told({{"crc32c", "4waSgw=="}, {"type", "FULL_OBJECT"}})));
  CHECK(!running_checksum::of(told({{"crc32c", "4waSgw=="}, {"type", "COMPOSITE"}})));
  CHECK(!running_checksum::of(told({{"type", "COMPOSITE"}, {"crc32c", "4waSgw=="}})));
  CHECK(!running_checksum::of(told({{"crc32c", "4waSgw==-3"}})));
  CHECK(!running_checksum::of(told({{"crc32c", "4waSgw"}})));
  CHECK(!running_checksum::of(told({{"crc32c", ""}})));
  CHECK(!running_checksum::of(told({{"sha1", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="}})));
  CHECK(!running_checksum::of(told({})));
  // The one that costs least.
  CHECK(told({{"sha256", std::string(44, 'A')}, {"crc32", "y/Q5Jg=="}}).what ==
        object_checksum::kind::crc32);
}

TEST_CASE("checksums: whole objects are compared with what the store tells", "[remote][host]") {
  const mounted_remote mounted;
  store of{5000};
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    const std::string header = "x-amz-checksum-" + kind + ": ";
    const std::string right = sum_of(kind, of.bytes, 5000);
    of.tell(header + right + "\r\n");
    const auto before = remote_counts();
    (void)open_file(of.server.address("/b/x?" + kind));
    CHECK(remote_counts().wrong_checksums == before.wrong_checksums);
    // Once wrong: asked for again.
    std::string wrong = right;
    wrong[0] = wrong[0] == 'A' ? 'B' : 'A';
    of.server.put("/b/x?once" + kind, of.bytes, "\"v\"");
    of.tell(header + wrong + "\r\n", 1);
    std::vector<std::byte> out(5000);
    open_file(of.server.address("/b/x?once" + kind))->read(0, out);
    CHECK(out == of.bytes);
    CHECK(remote_counts().wrong_checksums == before.wrong_checksums + 1);
    CHECK(remote_counts().retries == before.retries + 1);
    // Always wrong: told.
    of.tell("X-AMZ-Checksum-" + kind + ": " + wrong + "\r\n");
    const std::string words =
        message_of<dataset_error>([&] { (void)open_file(of.server.address("/b/x?wrong" + kind)); });
    CHECK(contains(words, " " + right + ", and the store tells " + wrong +
                              ": they were changed on their way or in the store; tried 3 times"));
    CHECK(contains(to_string(remote_counts()), " of a wrong checksum"));
  }
}

TEST_CASE("checksums: those of parts of an object are not compared", "[remote][host]") {
  const mounted_remote mounted;
  store of{500'000};  // more than comes with an opening
  of.tell("x-amz-checksum-crc32c: 4waSgw==\r\n");
  const auto before = remote_counts().wrong_checksums;
  const auto file = of.open();
  std::vector<std::byte> out(100'000);
  file->read(200'000, out);
  CHECK(std::ranges::equal(out, std::span{of.bytes}.subspan(200'000, 100'000)));
  CHECK(remote_counts().wrong_checksums == before);
  // All of it in one request, as the cache fetches it.
  out.resize(500'000);
  const std::string words = message_of<dataset_error>([&] { file->read(0, out); });
  CHECK(contains(words, "and the store tells 4waSgw=="));
  // Nothing can be compared with a checksum of the parts.
  of.tell("x-amz-checksum-crc32c: 4waSgw==-2\r\nx-amz-checksum-type: COMPOSITE\r\n");
  file->read(0, out);
  CHECK(out == of.bytes);
}

TEST_CASE("checksums: S3 is asked for those of whole objects, and other servers are not",
          "[remote][host]") {
  store of{500'000};
  remote_options options = patient_remote();
  options.s3_anonymous = true;
  options.s3_endpoint = of.server.address("");
  const mounted_remote mounted{options};
  const auto file = open_file("s3://b/x");
  std::vector<std::byte> out(500'000);
  file->read(0, out);
  file->read(100, std::span{out}.first(300'000));
  const auto requests = of.server.take_requests();
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].header("x-amz-checksum-mode") == "ENABLED");
  CHECK(requests[1].header("x-amz-checksum-mode") == "ENABLED");
  CHECK(requests[2].header("x-amz-checksum-mode").empty());
  (void)of.open();
  CHECK(of.server.take_requests().at(0).header("x-amz-checksum-mode").empty());
}

TEST_CASE("checksums: a wrong one is fetched again into the cache, and not kept",
          "[remote][host]") {
  const temporary_directory folder;
  remote_options options = patient_remote();
  options.cache = {.folder = folder.path() / "cache", .folder_bytes = std::uint64_t{1} << 30};
  const mounted_remote mounted{options};
  store of{500'000};
  const auto file = of.open();
  of.tell("x-amz-checksum-crc32c: 4waSgw==\r\n", 1);
  const auto before = remote_counts();
  std::vector<std::byte> out(1000);
  file->read(400'000, out);
  CHECK(std::ranges::equal(out, std::span{of.bytes}.subspan(400'000, 1000)));
  CHECK(remote_counts().wrong_checksums == before.wrong_checksums + 1);
  CHECK(remote_counts().cache.damaged == before.cache.damaged);
}
