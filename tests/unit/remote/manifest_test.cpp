/// Manifests stand in for lists and openings, and pin versions.

#include "remote/manifest.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/remote/manifest.hpp>

#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::read_manifest;

namespace {

struct no_manifest_after {
  no_manifest_after() = default;
  no_manifest_after(const no_manifest_after&) = delete;
  no_manifest_after& operator=(const no_manifest_after&) = delete;
  ~no_manifest_after() { detail::forget_manifest(); }
};

std::vector<std::byte> rows() {
  return npy_bytes(npy_dictionary("|u1", "(20, 5000)"), numbered(20 * 5000));
}

}  // namespace

TEST_CASE("manifest: objects in it are found, listed and opened without a request, and pinned",
          "[remote][host]") {
  const no_manifest_after forgotten;
  const mounted_remote mounted;
  const temporary_directory folder;
  http_server server;
  for (const char* const name : {"/d/a-1.npy", "/d/a-2.npy", "/d/e/b.npy"})
    server.put(name, rows());
  const std::string file = (folder.path() / "m.jsonl").string();
  // [manifest]
  write_manifest(file, {server.address("/d/a-{1..2}.npy"), server.address("/d/e/b.npy")});
  mount_manifest(file);
  // [/manifest]
  CHECK(write_manifest(file + "2", {server.address("/d/a-{1..2}.npy")}) == 2);
  (void)server.take_requests();
  CHECK(detail::match_files(server.address("/d/*.npy")) ==
        std::vector<std::string>{server.address("/d/a-1.npy"), server.address("/d/a-2.npy")});
  CHECK(detail::kind_of_entry(server.address("/d/e")) == detail::entry_kind::folder);
  const auto opened = detail::open_file(server.address("/d/a-2.npy"));
  CHECK(opened->size() == rows().size());
  CHECK(server.take_requests().empty());
  const dataset_ptr both = open(server.address("/d/*.npy"));
  CHECK(both->size() == 40);
  CHECK(read_sample(*both, {21}) == read_sample(*both, {1}));
  for (const auto& each : server.take_requests())
    if (!contains(each.path, "*"))  // whether there is an object of this name
      CHECK_FALSE(each.header("if-match").empty());

  server.put("/d/a-2.npy", rows());  // another version
  std::vector<std::byte> out(100);
  CHECK(contains(message_of<dataset_error>(
                     [&] { detail::open_file(server.address("/d/a-2.npy"))->read(50'000, out); }),
                 "was written again since it was opened (412)"));
}

TEST_CASE("manifest: lines that cannot be understood are refused by their number",
          "[remote][host]") {
  const std::string good = detail::manifest_line("s3://b/x", {5, "\"v\"", {}});
  CHECK(good ==
        "{\"path\": \"s3://b/x\", \"size\": 5, \"etag\": \"\\\"v\\\"\", "
        "\"last_modified\": \"\"}\n");
  CHECK(read_manifest(good + "\r\n\n", "m").at("s3://b/x").etag == "\"v\"");
  const auto refusal = [&](const std::string& line) {
    return message_of<dataset_error>([&] { (void)read_manifest(good + line, "m"); });
  };
  CHECK(contains(refusal("x"), "m: line 2 of the manifest: "));
  CHECK(contains(refusal(good), "its path is in a line before"));
  CHECK(contains(refusal(R"({"path": "s3://b/y"})"), "'size' is missing"));
  CHECK(contains(refusal(R"({"size": 1})"), "'path' is missing"));
  CHECK(contains(refusal(R"({"path": "/y", "size": 1})"), "is no address"));
  CHECK(contains(refusal(R"({"path": "s3://b/y", "size": "1"})"), "'size' is not a whole number"));
  CHECK(contains(refusal(R"({"path": 3, "size": 1})"), "'path' is not a string"));
  CHECK(contains(refusal(R"({"key": "a", "size": 1})"), "'key' is not a member"));
  CHECK(contains(refusal(R"({"path": "s3://b/y", "size": 1, "etag": "a\nX: y"})"),
                 "has the end of a line in it"));
}

TEST_CASE("manifest: addresses alone are written into one", "[remote][host]") {
  CHECK(contains(message_of<usage_error>([] { (void)write_manifest("m", {}); }), "no address"));
  CHECK(contains(message_of<usage_error>([] { (void)write_manifest("m", {"/etc/x"}); }),
                 "'/etc/x' is no address such as s3://BUCKET/KEY"));
}

TEST_CASE("manifest: none is lost of those that threads mount at once", "[remote][host]") {
  const no_manifest_after forgotten;
  constexpr int threads = 4;
  constexpr int each_mounts = 100;
  std::atomic<int> ready = 0;
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      ++ready;
      while (ready != threads) std::this_thread::yield();
      for (int i = 0; i < each_mounts; ++i)
        detail::add_to_manifest({{"s3://b/" + std::to_string(thread * each_mounts + i), {}}});
    });
  for (std::thread& each : all) each.join();
  CHECK(detail::mounted_manifest()->all().size() == threads * each_mounts);
}

TEST_CASE("manifest: one that several write at once is whole, and nothing else is left",
          "[remote][host]") {
  const mounted_remote mounted;
  const temporary_directory folder;
  constexpr int writers = 4;
  std::atomic<int> asked = 0;  // outlives the server
  http_server server;
  for (int i = 0; i < writers; ++i)
    server.put("/" + std::to_string(i), numbered(1000 + static_cast<std::size_t>(i)));
  // All come to the writing at about the same time.
  server.set_script([&](const http_request&) {
    ++asked;
    while (asked < writers) std::this_thread::yield();
    return http_fault{};
  });
  const std::string file = (folder.path() / "m.jsonl").string();
  std::vector<std::thread> all;
  std::atomic<int> wrote = 0;
  for (int i = 0; i < writers; ++i)
    all.emplace_back([&, i] {
      wrote += static_cast<int>(write_manifest(file, {server.address("/" + std::to_string(i))}));
    });
  for (std::thread& each : all) each.join();
  CHECK(wrote == writers);
  std::ifstream in{file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  CHECK(read_manifest(text, file).size() == 1);
  for (const auto& each : std::filesystem::directory_iterator{folder.path()})
    CHECK(each.path() == file);
  CHECK(contains(message_of<std::runtime_error>([&] {
                   (void)write_manifest((folder.path() / "no" / "m").string(),
                                        {server.address("/0")});
                 }),
                 "cannot be written: No such file or directory"));
}
