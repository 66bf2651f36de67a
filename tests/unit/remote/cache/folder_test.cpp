#include <feedline/error.hpp>

#include "remote/cache/cache_folder.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace feedline;
using namespace feedline::test;
using detail::block_name;
using detail::cache_folder;

namespace {

constexpr std::uint64_t room = 10'000'000;

std::string refusal(const std::string& path) {
  return message_of<usage_error>([&] { (void)cache_folder::open(path, room); });
}

}  // namespace

TEST_CASE("remote cache: a folder is made for its user alone", "[remote]") {
  const temporary_directory folder;
  const std::string path = folder.path() / "new";
  (void)cache_folder::open(path, room);
  struct stat state {};
  REQUIRE(::stat((path + "/feedline-cache-1").c_str(), &state) == 0);
  CHECK((state.st_mode & 0777) == 0700);
  REQUIRE(::stat((path + "/feedline-cache-1/locks").c_str(), &state) == 0);
  CHECK((state.st_mode & 0777) == 0600);
}

TEST_CASE("remote cache: a folder that a process uses twice is counted and claimed once",
          "[remote]") {
  const temporary_directory folder;
  const std::string path = folder.path() / "cache";
  const auto first = cache_folder::open(path, room);
  first->enter();
  REQUIRE(first->lock(7));
  REQUIRE(first->reserve(1000));
  // The path and the size differ.
  const auto second = cache_folder::open(path + "/../cache", 2 * room);
  second->enter();
  CHECK(second->used() == 1000);
  CHECK(second->is_locked_elsewhere(7));
  CHECK(!second->lock(7));
  CHECK(second->lock(8));
  CHECK(!first->lock(8));
  first->unlock(7);
  CHECK(second->lock(7));
  second->unlock(7);
  second->unlock(8);
  CHECK(!first->is_locked_elsewhere(8));
  // Another folder has claims of its own.
  const auto other = cache_folder::open(folder.path() / "other", room);
  other->enter();
  CHECK(other->used() == 0);
  REQUIRE(first->lock(9));
  CHECK(other->lock(9));
  first->unlock(9);
  other->unlock(9);
  first->release(1000);
}

TEST_CASE("remote cache: folders that cannot be trusted or used are refused", "[remote]") {
  const temporary_directory folder;
  const std::string path = folder.path();
  const std::string own = path + "/feedline-cache-1";
  CHECK(contains(refusal(folder.write("file", {})), "cannot be opened: Not a directory"));
  std::filesystem::create_directory(path + "/elsewhere");
  std::filesystem::create_symlink(path + "/elsewhere", own);
  CHECK(contains(refusal(path), "which is no folder, or a link"));
  std::filesystem::remove(own);
  (void)folder.write("feedline-cache-1", {});
  CHECK(contains(refusal(path), "which is no folder, or a link"));
  std::filesystem::remove(own);
  std::filesystem::create_directory(own);
  std::filesystem::permissions(own, std::filesystem::perms{0750});
  CHECK(contains(refusal(path), "that other users may read or write; chmod 700 '" + own + "'"));
  std::filesystem::permissions(own, std::filesystem::perms{0700});
  std::filesystem::create_symlink(path + "/elsewhere/locks", own + "/locks");
  CHECK(contains(refusal(path), "cannot be written to"));
}

TEST_CASE("remote cache: a block of the folder is read by its text, in any part", "[remote]") {
  const temporary_directory folder;
  const auto files = cache_folder::open(folder.path(), room);
  files->enter();
  const auto bytes = static_cast<std::size_t>(GENERATE(1, 65536, 65537, 200'000));
  const auto content = numbered(bytes);
  const block_name name{123, bytes};
  CHECK(!files->has(name));
  REQUIRE(files->reserve(cache_folder::counted(bytes)));
  CHECK(files->store(name, "text", content) == cache_folder::stored::yes);
  CHECK(files->has(name));
  CHECK(files->list() == std::vector{name});
  const std::uint64_t offset = bytes / 3;
  std::vector<std::byte> out(bytes - offset);
  CHECK(files->read(name, "text", offset, out) == cache_folder::outcome::read);
  CHECK(std::ranges::equal(out, std::span{content}.subspan(offset)));
  CHECK(files->read(name, "another", 0, out) == cache_folder::outcome::absent);
  CHECK(!files->has(name));
  CHECK(files->used() == 0);
}

TEST_CASE("remote cache: the bytes in use are counted from what is there", "[remote]") {
  const temporary_directory folder;
  const auto content = numbered(1000);
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto its = cache_folder::open(folder.path(), room);
    its->enter();
    const bool is_done = its->reserve(cache_folder::counted(1000)) &&
                         its->reserve(cache_folder::counted(1000)) &&  // it does not come to this
                         its->store({1, 1000}, "a", content) == cache_folder::stored::yes;
    ::_exit(is_done ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(killed, &status, 0) == killed);
  REQUIRE(status == 0);
  const auto files = cache_folder::open(folder.path(), room);
  CHECK(files->used() == 2 * cache_folder::counted(1000));
  const std::string left = folder.write("feedline-cache-1/0000000000000002-3e8.new", content);
  const std::string other = folder.write("feedline-cache-1/not a block", content);
  files->enter();
  CHECK(files->used() == cache_folder::counted(1000));
  CHECK(!std::filesystem::exists(left));
  CHECK(std::filesystem::exists(other));
  CHECK(!files->reserve(room));
}

TEST_CASE("remote cache: a process that opens a folder keeps what another one has counted",
          "[remote]") {
  const temporary_directory folder;
  const auto files = cache_folder::open(folder.path(), room);
  REQUIRE(files->reserve(1000));
  std::filesystem::resize_file(folder.path() / "feedline-cache-1" / "locks", 8);  // not made yet
  CHECK(cache_folder::open(folder.path(), room)->used() == 1000);
}

TEST_CASE("remote cache: names of blocks are read as they are written", "[remote]") {
  const block_name name{0xabc, 4194304};
  CHECK(name.text() == "0000000000000abc-400000");
  CHECK(block_name::parse(name.text()) == name);
  for (const char* wrong :
       {"", "locks", "0000000000000abc", "0000000000000abc-", "0000000000000abc-40g",
        "0000000000000ABC-400000", "0000000000000abc-0400000", "0000000000000abc-400000.new"})
    CHECK(!block_name::parse(wrong));
}
