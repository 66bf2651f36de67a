#include "io/file_system.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using names = std::vector<std::string>;

namespace {

/// A folder with some files and folders in it.
struct tree {
  tree() {
    for (const char* const name : {"a", "b", ".hidden", "a/deep"})
      std::filesystem::create_directory(folder.path() / name);
    for (const char* const name : {"1.npy", "2.npy", ".3.npy", "a/1.npy", "a/deep/4.npy", "b/1.npy",
                                   "b/x[1].npy", ".hidden/5.npy"})
      (void)folder.write(name, test::numbered(10));
    std::filesystem::create_symlink("a", folder.path() / "link");
    std::filesystem::create_symlink("nowhere", folder.path() / "broken.npy");
  }

  /// @param pattern Within the folder. @return The matches, within it too.
  [[nodiscard]] names matches(const std::string& before, const std::string& pattern) const {
    const std::string root = before + folder.path().string() + '/';
    names found;
    for (const std::string& each : match_files(root + pattern)) {
      CHECK(each.starts_with(root));
      found.push_back(each.substr(root.size()));
    }
    return found;
  }

  test::temporary_directory folder;
};

}  // namespace

TEST_CASE("file systems: a pattern goes through folders, here and in other storage",
          "[dataset][host]") {
  const test::mounted_standin storage;
  const tree in;
  const std::string before = GENERATE("", "standin://");
  CAPTURE(before);
  CHECK(in.matches(before, "*.npy") == names{"1.npy", "2.npy", "broken.npy"});
  CHECK(in.matches(before, ".*.npy") == names{".3.npy"});
  CHECK(in.matches(before, "*/1.npy") == names{"a/1.npy", "b/1.npy", "link/1.npy"});
  CHECK(in.matches(before, "[ab]/*.npy") == names{"a/1.npy", "b/1.npy", "b/x[1].npy"});
  CHECK(in.matches(before, "?/*/4.npy") == names{"a/deep/4.npy"});
  CHECK(in.matches(before, "?/") == names{"a/", "b/"});
  CHECK(in.matches(before, "b//*.npy") == names{"b//1.npy", "b//x[1].npy"});
  CHECK(in.matches(before, "b/x\\[1].npy") == names{"b/x[1].npy"});
  CHECK(in.matches(before, "nowhere/*").empty());
  CHECK(in.matches(before, "1.npy/*").empty());
  CHECK(in.matches(before, "*.txt").empty());
}

TEST_CASE("file systems: what stands under a path is told", "[dataset][host]") {
  const test::mounted_standin storage;
  const tree in;
  const std::string pipe = in.folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string before = GENERATE("", "standin://");
  const auto kind = [&](const std::string& name) {
    return kind_of_entry(before + (in.folder.path() / name).string());
  };
  CHECK(kind("1.npy") == entry_kind::file);
  CHECK(kind("link") == entry_kind::folder);
  CHECK(kind("pipe") == entry_kind::pipe);
  CHECK(kind("broken.npy") == entry_kind::nothing);
  CHECK(kind("1.npy/x") == entry_kind::nothing);
  CHECK(kind_of_entry("/dev/null") == entry_kind::unknown);
}

TEST_CASE("file systems: a folder that cannot be listed is named, with the reason",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string missing = folder.path() / "missing";
  CHECK(test::message_of<dataset_error>([&] { (void)local_files().list(missing); }) ==
        missing +
            ": cannot be listed: No such file or directory; check the path and its permissions");
}

TEST_CASE("file systems: a pattern through a folder that cannot be examined gives the reason",
          "[dataset][host]") {
  class closed_files final : public file_system {
    byte_file_ptr open(const std::string&, file_access) const override { return nullptr; }
    entry_kind kind_of(const std::string&) const noexcept override { return entry_kind::unknown; }
    std::vector<folder_entry> list(const std::string& folder) const override {
      throw dataset_error{{.path = folder, .field = {}}, "cannot be listed: the storage is away"};
    }
  };
  mount_files("closed", std::make_shared<const closed_files>());
  CHECK(test::message_of<dataset_error>([] { (void)match_files("closed://a/b/*.npy"); }) ==
        "closed://a/b/: cannot be listed: the storage is away");
  mount_files("closed", nullptr);
}

TEST_CASE("file systems: an address belongs to the storage that is mounted under its scheme",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = test::numbered(100);
  const std::string path = folder.write("x", bytes);
  const std::string address = test::mounted_standin::address_of(path);
  byte_file_ptr file;
  {
    const test::mounted_standin storage;
    file = open_file(address);
    CHECK(file->name() == address);
    CHECK(file->local_path().empty());
    CHECK(file->version() == open_file(path)->version());
    CHECK(open_file(path)->local_path() == path);
  }
  std::vector<std::byte> out(100);
  file->read(0, out);  // a file that is open stays so
  CHECK(out == bytes);
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open_file(address); }),
                       address + ": cannot be opened: No such file or directory"));
  CHECK(test::contains(test::message_of<dataset_error>([] { (void)open_file("gs://x/y"); }),
                       "gs://x/y: an object of Google Cloud Storage, which is not supported yet"));
#ifdef FEEDLINE_TEST_REMOTE
  const std::string remedy = "call feedline::mount_remote_files() first (target feedline::remote)";
#else
  const std::string remedy =
      "this feedline was built without libcurl and pugixml; install them (apt-get install "
      "libcurl4-openssl-dev libpugixml-dev) and build it again, or copy the file to a local disk";
#endif
  CHECK(test::message_of<dataset_error>([] { (void)open_file("https://a.org/x?key=y"); }) ==
        "https://a.org/x?...: an object of another machine: " + remedy);
}

TEST_CASE("file systems: a file's version differs once it has changed", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string path = folder.write("x", test::numbered(100));
  const std::string before = open_file(path)->version();
  CHECK(open_file(path)->version() == before);
  SECTION("longer") {
    (void)folder.write("x", test::numbered(101));
    CHECK(open_file(path)->version() != before);
  }
  SECTION("replaced") {
    const auto time = std::filesystem::last_write_time(path);
    const auto other = folder.write("y", test::numbered(100));
    std::filesystem::last_write_time(other, time);
    std::filesystem::rename(other, path);
    CHECK(open_file(path)->version() != before);
  }
}

TEST_CASE("file systems: a whole file is read at once, here and in other storage",
          "[dataset][host]") {
  const test::mounted_standin storage;
  const test::temporary_directory folder;
  const auto bytes = test::numbered(5000);
  const std::string before = GENERATE("", "standin://");
  const std::string path = before + folder.write("x", bytes).string();
  const auto files = file_system_of(path);
  std::vector<std::byte> memory;
  const auto read = [&](const std::string& from) {
    return files->read_whole(from, [&](std::size_t count) {
      memory.resize(count);
      return std::span{memory};
    });
  };
  const whole_file whole = read(path);
  CHECK(whole.bytes.data() == memory.data());
  CHECK(memory == bytes);
  CHECK(whole.was_in_memory == before.empty());
  CHECK(files->size_of(path) == 5000);
  CHECK(files->size_of(path + "/x") == 0);
  files->will_need_whole(path, 0);
  std::vector<std::byte> streamed(6000);
  CHECK(files->stream({path, {}})->read(streamed) == 5000);
  const std::string missing = before + (folder.path() / "missing").string();
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)read(missing); }),
                       "cannot be opened: No such file or directory"));
}

TEST_CASE(
    "file systems: a file of an expected size is read into the memory for it, others as they are",
    "[dataset][host]") {
  const test::mounted_standin storage;
  const test::temporary_directory folder;
  constexpr std::size_t expected = 5000;
  const std::string before = GENERATE("", "standin://");
  const auto more_room = GENERATE(as<std::size_t>{}, 0, 1, 300);
  const auto size = GENERATE(as<std::size_t>{}, 0, 1, 4999, 5000, 5001, 5100, 9000);
  CAPTURE(before, more_room, size);
  const auto bytes = test::numbered(size);
  const std::string path = before + folder.write("x", bytes).string();
  std::vector<std::byte> out(expected + more_room + 1, std::byte{7});
  std::vector<std::byte> other;
  const auto read = [&](const std::string& from) {
    return file_system_of(path)->read_expected(from, std::span{out}.first(expected + more_room),
                                               expected, [&](std::size_t count) {
                                                 if (count <= expected + more_room)
                                                   return std::span{out}.first(count);
                                                 other.resize(count);
                                                 return std::span{other};
                                               });
  };
  const whole_file whole = read(path);
  CHECK(std::ranges::equal(whole.bytes, bytes));
  CHECK((whole.bytes.data() == out.data()) == (size <= expected + more_room));
  CHECK(out.back() == std::byte{7});
  CHECK(whole.was_in_memory == before.empty());
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)read(path + "-missing"); }),
                       "cannot be opened: No such file or directory"));
  if (!before.empty()) return;
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)read(folder.path()); }),
                       "is not a regular file"));
  const std::string pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)read(pipe); }),
                       "is not a regular file"));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)read("/dev/zero"); }),
                       "is not a regular file"));
}
