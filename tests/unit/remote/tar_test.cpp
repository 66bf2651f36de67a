/// Shards of other machines whose members are kept for later runs.

#include <feedline/formats/open.hpp>
#include <feedline/formats/tar.hpp>

#include "formats/tar/kept_members.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t row_bytes = 150'000;

/// A shard of 40 arrays; the number of each is its first byte and this one.
std::vector<std::byte> shard_of(std::uint8_t first) {
  tar_bytes shard;
  for (std::uint8_t i = 0; i < 40; ++i) {
    auto row = numbered(row_bytes);
    row[0] = static_cast<std::byte>(first + i);
    shard.add(std::to_string(100 + i) + ".x.npy",
              npy_bytes(npy_dictionary("|u1", "(150000,)"), row));
  }
  return shard.ended();
}

int first_byte(const dataset& of, std::uint64_t sample) {
  std::vector<std::byte> out(row_bytes);
  const std::span<std::byte> field{out};
  const sample_index one{sample};
  of.read({&one, 1}, {&field, 1});
  return std::to_integer<int>(out[0]);
}

std::vector<std::filesystem::path> indexes_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& each : std::filesystem::directory_iterator{folder})
    if (each.path().extension() == ".index") found.push_back(each.path());
  return found;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("remote: a shard's members are kept in the cache's folder, by its version",
          "[remote][host]") {
  const temporary_directory folder;
  remote_options options = patient_remote();
  options.cache.folder = (folder.path() / "cache").string();
  options.cache.folder_bytes = std::uint64_t{1} << 30;
  http_server server;
  server.put("/a.tar", shard_of(0), "\"v\"");
  const std::string address = server.address("/a.tar?X-Amz-Signature=secret");
  const auto requests_to_open = [&] {
    const mounted_remote mounted{options};  // forgets the last opening
    (void)server.take_requests();
    const dataset_ptr opened = open(address);
    CHECK(opened->size() == 40);
    return server.take_requests().size();
  };
  CHECK(requests_to_open() > 1);
  const auto kept = indexes_in(options.cache.folder);
  REQUIRE(kept.size() == 1);
  CHECK(requests_to_open() == 1);
  CHECK(content_of(kept[0]).find("secret") == std::string::npos);
  CHECK(kept[0].string().find("secret") == std::string::npos);
  {
    const mounted_remote mounted{options};
    CHECK(first_byte(*open(address), 7) == 7);
  }
  SECTION("another version is walked through, and its members replace the others") {
    server.put("/a.tar", shard_of(100), "\"w\"");
    const mounted_remote mounted{options};
    CHECK(first_byte(*open(address), 7) == 107);
    CHECK(indexes_in(options.cache.folder) == kept);
  }
  SECTION("a damaged index is made again") {
    std::string text = content_of(kept[0]);
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    std::ofstream{kept[0], std::ios::binary} << text;
    const mounted_remote mounted{options};
    CHECK(first_byte(*open(address), 7) == 7);
    CHECK(content_of(kept[0]) != text);
  }
  SECTION("a folder that the user names comes first") {
    const temporary_directory other;
    const mounted_remote mounted{options};
    const dataset_ptr opened = open_tar({address}, {{"x", {"x.npy"}, decode_npy()}},
                                        {.index_folder = other.path().string()});
    CHECK(first_byte(*opened, 39) == 39);
    CHECK(indexes_in(other.path()).size() == 1);
  }
}

TEST_CASE("tar: members that are kept are those of the walk, and others are refused",
          "[dataset][host]") {
  const std::vector<detail::tar_member> members{
      {.name = "a.jpg", .header = 0, .offset = 512, .size = 100},
      {.name = "a.very-long-name-of-a-member.cls", .header = 1024, .offset = 1536, .size = 0},
      {.name = "\xc3\xa4.jpg",
       .header = 2048,
       .offset = 2560,
       .size = 0,
       .instead = "a hard link to 'a.jpg'"}};
  const auto numbers = detail::numbers_of(members);
  const auto again = detail::members_of(numbers, 4096);
  REQUIRE(again);
  REQUIRE(again->size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK((*again)[i].name == members[i].name);
    CHECK((*again)[i].header == members[i].header);
    CHECK((*again)[i].offset == members[i].offset);
    CHECK((*again)[i].size == members[i].size);
    CHECK((*again)[i].instead == members[i].instead);
  }
  CHECK(detail::members_of({}, 4096)->empty());
  CHECK_FALSE(detail::members_of(numbers, 2000));  // the file ends before
  for (std::size_t cut = 1; cut < 5; ++cut)
    CHECK_FALSE(detail::members_of(std::span{numbers}.first(numbers.size() - cut), 4096));
  for (const std::size_t place : {0U, 1U, 2U, 3U, 4U}) {
    auto wrong = numbers;
    wrong[place] = ~std::uint64_t{0};
    CHECK_FALSE(detail::members_of(wrong, 4096));
  }
}
