#include <feedline/error.hpp>
#include <feedline/remote/statistics.hpp>

#include "io/file_system.hpp"
#include "remote/manifest.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "unit/remote/cache/cached_rows.hpp"

#include <filesystem>
#include <fstream>

using namespace feedline;
using namespace feedline::test;
using detail::object_cache;
using detail::open_file;

namespace {

constexpr cached_rows rows;

bool is_right(const detail::byte_file& file, std::uint64_t offset, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  file.read(offset, out);
  static const auto expected = rows.content();
  return std::memcmp(out.data(), expected.data() + offset, bytes) == 0;
}

std::vector<std::filesystem::path> files_of(const temporary_directory& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& each :
       std::filesystem::directory_iterator{folder.path() / "cache" / "feedline-cache-1"})
    if (each.path().filename() != "locks") found.push_back(each.path());
  return found;
}

}  // namespace

TEST_CASE("remote cache: a block is fetched whole, and all its bytes come from the cache then",
          "[remote][host]") {
  const temporary_directory folder;
  const bool in_memory = GENERATE(false, true);
  const mounted_remote mounted{in_memory ? rows.with_memory(100) : rows.with_folder(folder, 100)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  const auto file = open_file(server.address("/x"));
  (void)server.take_requests();
  const std::uint64_t begin = 3 * rows.block_bytes;
  CHECK(is_right(*file, begin + 100'000, 5'000));
  object_cache::settle_all();
  const auto requests = server.take_requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests.front().range() == std::pair{begin, begin + rows.block_bytes - 1});
  const auto before = remote_counts().cache;
  CHECK(is_right(*file, begin, rows.block_bytes));
  CHECK(is_right(*file, begin + rows.block_bytes - 1, 1));
  CHECK(server.take_requests().empty());
  const auto after = remote_counts().cache;
  CHECK(after.reads == before.reads + 2);
  CHECK((in_memory ? after.memory_bytes - before.memory_bytes
                   : after.folder_bytes - before.folder_bytes) == rows.block_bytes + 1);
  CHECK(contains(to_string(remote_counts()), "; cache: "));
}

TEST_CASE("remote cache: a read over many blocks fetches those that are missing",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 100)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  const auto file = open_file(server.address("/x"));
  CHECK(is_right(*file, 5 * rows.block_bytes, 1'000));
  CHECK(is_right(*file, 8 * rows.block_bytes, 1'000));
  object_cache::settle_all();
  (void)server.take_requests();
  CHECK(is_right(*file, 4 * rows.block_bytes + 10, 6 * rows.block_bytes));
  CHECK(server.take_requests().size() == 5);
}

TEST_CASE("remote cache: a new version of an object is fetched", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 100)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  CHECK(is_right(*open_file(server.address("/x")), rows.block_bytes, 1'000));
  object_cache::settle_all();
  const std::vector<std::byte> other(rows.bytes(), std::byte{7});
  server.put("/y", other, "\"one\"");
  std::vector<std::byte> out(1'000);
  open_file(server.address("/y"))->read(rows.block_bytes, out);
  CHECK(out == std::vector<std::byte>(1'000, std::byte{7}));
  server.remove("/x");
  server.put("/z", rows.content(), "\"one\"");
  server.put("/z", other, "\"two\"");
  open_file(server.address("/z"))->read(rows.block_bytes, out);
  CHECK(out == std::vector<std::byte>(1'000, std::byte{7}));
}

TEST_CASE("remote cache: objects without a version are not kept", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 100)};
  http_server server;
  server.put("/x", rows.content(), GENERATE("", "W/\"weak\""));
  const auto file = open_file(server.address("/x"));
  CHECK(is_right(*file, rows.block_bytes, 1'000));
  CHECK(is_right(*file, rows.block_bytes, 1'000));
  object_cache::settle_all();
  CHECK(files_of(folder).empty());
}

TEST_CASE("remote cache: damaged blocks are found and fetched again", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 100)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  const auto file = open_file(server.address("/x"));
  CHECK(is_right(*file, rows.block_bytes, 1'000));
  object_cache::settle_all();
  REQUIRE(files_of(folder).size() == 1);
  const std::filesystem::path block = files_of(folder).front();
  const auto size = std::filesystem::file_size(block);
  const int how = GENERATE(range(0, 6));
  CAPTURE(how);
  if (how == 0) std::filesystem::resize_file(block, size - 1);
  if (how == 1) std::filesystem::resize_file(block, size + 1);
  if (how == 2) std::filesystem::resize_file(block, 0);
  if (how >= 3) {
    std::fstream bytes{block, std::ios::in | std::ios::out | std::ios::binary};
    const std::uint64_t at = how == 3 ? 500 : how == 4 ? rows.block_bytes + 1 : size - 1;
    bytes.seekg(static_cast<std::streamoff>(at));
    const int old = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(old ^ 1));
  }
  (void)server.take_requests();
  const auto before = remote_counts().cache.damaged;
  CHECK(is_right(*file, rows.block_bytes, 1'000));
  CHECK(remote_counts().cache.damaged == before + 1);
  CHECK(server.take_requests().size() == 1);
  object_cache::settle_all();
  CHECK(is_right(*file, rows.block_bytes, rows.block_bytes));
  CHECK(server.take_requests().empty());
}

TEST_CASE("remote cache: where nothing is known of the order, what is there stays",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() / 2)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  const auto file = open_file(server.address("/x"));
  for (int pass = 0; pass < 3; ++pass) {
    asked_bytes asked{server};
    for (std::uint64_t block = 0; block < rows.blocks(); ++block)
      CHECK(is_right(*file, block * rows.block_bytes, rows.block_bytes));
    object_cache::settle_all();
    CHECK(asked.count() <= rows.bytes() / (pass == 0 ? 1 : 2));
  }
}

TEST_CASE("remote cache: blocks that are long unused make room for others", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 4)};
  http_server server;
  server.put("/x", rows.content(), "\"one\"");
  const auto file = open_file(server.address("/x"));
  for (std::uint64_t block = 1; block < 5; ++block)
    CHECK(is_right(*file, block * rows.block_bytes, 100));
  object_cache::settle_all();
  const auto first = files_of(folder);
  CHECK(first.size() == 4);
  for (const auto& each : first)
    std::filesystem::last_write_time(
        each, std::filesystem::file_time_type::clock::now() - std::chrono::hours{1});
  const mounted_remote again{rows.with_folder(folder, 4)};
  const auto other = open_file(server.address("/x"));
  CHECK(is_right(*other, 10 * rows.block_bytes, 100));
  object_cache::settle_all();
  const auto left = files_of(folder);
  CHECK(left.size() == 4);
  CHECK(remote_counts().cache.evicted >= 1);
  // Another process uses those that were idle.
  for (const auto& each : left)
    std::filesystem::last_write_time(each, std::filesystem::file_time_type::clock::now());
  CHECK(is_right(*other, 20 * rows.block_bytes, 100));
  object_cache::settle_all();
  for (const auto& each : left) CHECK(std::filesystem::exists(each));
}

TEST_CASE("remote objects: a file that is read whole comes once, with the bytes of its opening",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const std::size_t size = GENERATE(0U, 1000U, 1048576U, 1048577U, 3000000U);
  const auto content = numbered(size);
  server.put("/image", content, "\"one\"");
  std::vector<std::byte> bytes;
  const std::string address = server.address("/image");
  (void)detail::file_system_of(address)->read_whole(address, [&](std::size_t wanted) {
    bytes.resize(wanted);
    return std::span{bytes};
  });
  CHECK(bytes == content);
  CHECK(server.body_bytes() == size);
}

TEST_CASE("remote cache: files that are read whole are kept if a manifest tells their versions",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, 100)};
  http_server server;
  server.put("/image", rows.content(), "\"one\"");
  const std::string address = server.address("/image");
  const auto read = [&] {
    std::vector<std::byte> bytes;
    (void)detail::file_system_of(address)->read_whole(address, [&](std::size_t size) {
      bytes.resize(size);
      return std::span{bytes};
    });
    CHECK(bytes == rows.content());
    object_cache::settle_all();
    return server.take_requests().size();
  };
  CHECK(read() != 0);
  CHECK(read() != 0);  // its version is not known before it is asked for
  detail::add_to_manifest({{address, {.size = rows.bytes(), .etag = "\"one\""}}});
  CHECK(read() != 0);
  CHECK(read() == 0);
  detail::forget_manifest();
}

TEST_CASE("remote cache: options that cannot be are refused", "[remote][host]") {
  const auto message = [](const remote_cache_options& cache) {
    return message_of<usage_error>([&] { mount_remote_files({.cache = cache}); });
  };
  CHECK(message({.block_bytes = 100'000}) ==
        "mount_remote_files: remote_options::cache.block_bytes is 100000; it is a power of two, "
        "64 KiB to 64 MiB");
  CHECK(contains(message({.folder = "/tmp/x"}), "give the bytes that the folder may take"));
  CHECK(contains(message({.folder_bytes = 1'000'000'000}), "and there is no cache.folder"));
  CHECK(contains(message({.memory_bytes = 1000}), "less than a block needs (4194304)"));
  CHECK(contains(message({.folder = "/no/where", .folder_bytes = 100'000'000}),
                 "'/no/where' cannot be made: No such file or directory"));
}
