/// Descriptors that are closed while others need them, under a limit of 64. This program lowers its
/// hard limit too, so that it cannot be raised again.

#include "io/local/kept_descriptor.hpp"

#include "io/local/file.hpp"
#include "io/local/stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/process.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace std::chrono_literals;

namespace {

constexpr rlim_t limit = 64;
constexpr std::size_t room = limit / 2;  // number of kept descriptors

const bool is_limited = [] {
  const rlimit few{limit, limit};
  return ::setrlimit(RLIMIT_NOFILE, &few) == 0;
}();

constexpr std::size_t file_bytes = 100;

/// Files whose first byte is their number, modulo 251.
class many_files {
 public:
  explicit many_files(std::size_t count, file_access how = file_access::by_calls,
                      std::chrono::nanoseconds look = 1h) {
    REQUIRE(is_limited);
    for (std::size_t i = 0; i < count; ++i) add(how, look);
  }

  void add(file_access how = file_access::by_calls, std::chrono::nanoseconds look = 1h) {
    auto bytes = test::numbered(file_bytes);
    bytes[0] = first_byte(files_.size());
    const auto path = folder_.write(std::to_string(files_.size()), bytes);
    test::let_age(path);
    files_.push_back(std::make_unique<const local_file>(path, how, look));
  }

  [[nodiscard]] static std::byte first_byte(std::size_t file) {
    return static_cast<std::byte>(file % 251);
  }
  [[nodiscard]] const local_file& operator[](std::size_t file) const { return *files_[file]; }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  void close_all() { files_.clear(); }

  /// Whether what a file is read to is its own.
  [[nodiscard]] bool reads_right(std::size_t file) const {
    std::vector<std::byte> bytes(file_bytes);
    const auto mapped = files_[file]->mapped();
    if (mapped.empty())
      files_[file]->read(0, bytes);
    else
      bytes.assign(mapped.begin(), mapped.end());
    files_[file]->require_unchanged();
    auto expected = test::numbered(file_bytes);
    expected[0] = first_byte(file);
    return bytes == expected;
  }

  /// Whether this process has a descriptor of it.
  [[nodiscard]] bool is_open(std::size_t file) const {
    std::error_code gone;  // the descriptor that lists them
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"})
      if (std::filesystem::read_symlink(each.path(), gone) == files_[file]->name()) return true;
    return false;
  }

  /// Files that have a descriptor.
  [[nodiscard]] std::size_t count_open() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (is_open(i)) ++count;
    return count;
  }

 private:
  test::temporary_directory folder_;
  std::vector<std::unique_ptr<const local_file>> files_;
};

/// Takes all descriptors that this process may still have.
class all_descriptors {
 public:
  all_descriptors() {
    for (int taken = 0; taken >= 0;) {
      taken = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (taken >= 0) taken_.push_back(taken);
    }
  }
  all_descriptors(const all_descriptors&) = delete;
  all_descriptors& operator=(const all_descriptors&) = delete;
  ~all_descriptors() {
    for (const int each : taken_) ::close(each);
  }

 private:
  std::vector<int> taken_;
};

std::string complaint(const local_file& file) {
  return test::message_of<dataset_error>([&] { file.require_unchanged(); });
}

std::string complaint_of_read(const local_file& file) {
  std::vector<std::byte> bytes(file_bytes);
  return test::message_of<dataset_error>([&] { file.read(0, bytes); });
}

const std::string unharmed = "[nothing was thrown]";

}  // namespace

TEST_CASE("kept descriptors: no more than half of the limit stay open, and every file is read",
          "[dataset][host]") {
  const many_files files{10 * limit};
  CHECK(files.count_open() == room);
  std::size_t right = 0;
  for (std::size_t i = 0; i < files.size(); ++i)
    right += files.reads_right(i * 7 % files.size()) ? 1 : 0;
  CHECK(right == files.size());
  CHECK(files.count_open() == room);
}

TEST_CASE("kept descriptors: files that are destroyed close their descriptors", "[dataset][host]") {
  const std::size_t before = test::descriptor_count();
  many_files files{2 * limit};
  REQUIRE(files.reads_right(3));
  files.close_all();
  CHECK(test::descriptor_count() == before);
}

TEST_CASE("kept descriptors: the one that was not used for longest is closed first",
          "[dataset][host]") {
  many_files files{room};
  REQUIRE(files.count_open() == room);
  for (std::size_t i = 0; i < room; ++i)
    if (i != 5) REQUIRE(files.reads_right(i));
  files.add();
  CHECK_FALSE(files.is_open(5));
  CHECK(files.count_open() == room);
}

TEST_CASE(
    "kept descriptors: changes of a file while it was closed are reported, on a read or a check",
    "[dataset][host]") {
  const auto change = GENERATE(values(test::all_file_changes));
  const bool is_read = GENERATE(true, false);
  const auto how = GENERATE(file_access::by_calls, file_access::mapped);
  many_files files{1, how};
  while (close_kept_descriptors(16) != 0) continue;
  REQUIRE_FALSE(files.is_open(0));
  REQUIRE(complaint(files[0]) == unharmed);
  const std::string path = files[0].name();
  test::change_file(path, change);
  const std::string told = is_read ? complaint_of_read(files[0]) : complaint(files[0]);
  CHECK(told == path + ": " + test::words_for(change, file_bytes) +
                    "; a file must stay as it is while it is read: open it again");
}

TEST_CASE("kept descriptors: a file that may not be opened again is an error with a remedy",
          "[dataset][host]") {
  many_files files{1};
  while (close_kept_descriptors(16) != 0) continue;
  const all_descriptors none_left;
  CHECK(complaint_of_read(files[0]) ==
        files[0].name() +
            ": was closed to make room for other files, and cannot be opened again: Too many open "
            "files; this process may have 64 files open at once: raise the limit with `ulimit -n` "
            "before it starts");
  CHECK(complaint(files[0]) == unharmed);
}

TEST_CASE("kept descriptors: if none is left, a message names the limit and how to raise it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string path = folder.write("rows.bin", test::numbered(10));
  const all_descriptors none_left;
  const std::string told =
      path +
      ": cannot be opened: Too many open files; this process may have 64 files open at once: "
      "raise the limit with `ulimit -n` before it starts";
  CHECK(test::message_of<dataset_error>([&] { const local_file file{path}; }) == told);
  CHECK(test::message_of<dataset_error>([&] { const local_stream file{{path, {}}}; }) == told);
}

TEST_CASE("kept descriptors: if none is left, an unused one is closed for another",
          "[dataset][host]") {
  many_files files{room};
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", test::numbered(10));
  const all_descriptors none_left;
  const local_file more{path, file_access::by_calls};
  std::vector<std::byte> bytes(10);
  more.read(0, bytes);
  CHECK(bytes == test::numbered(10));
  for (std::size_t i = 0; i < room; ++i) CHECK(files.reads_right(i));
  local_stream source{{path.string(), {}}};
  CHECK(source.read(bytes) == 10);
}

TEST_CASE("kept descriptors: mapped files leave theirs to others", "[dataset][host]") {
  many_files files{room};
  for (std::size_t i = 0; i < limit; ++i) files.add(file_access::mapped, 0ns);
  for (std::size_t i = 0; i < room; ++i) CHECK(files.is_open(i));
  for (std::size_t i = room; i < files.size(); ++i) {
    CHECK_FALSE(files.is_open(i));
    CHECK_FALSE(files[i].mapped().empty());
    CHECK(files.reads_right(i));
    CHECK_FALSE(files.is_open(i));  // a look whether it is unchanged, and in memory, keeps none
  }
}

TEST_CASE("kept descriptors: threads read all files at once while they close each other's",
          "[dataset][host]") {
  const many_files files{3 * limit};
  constexpr std::size_t threads = 16;
  std::atomic<std::size_t> waiting{threads};
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> readers;
  for (std::size_t t = 0; t < threads; ++t) {
    readers.emplace_back([&, t] {
      for (--waiting; waiting != 0;) std::this_thread::yield();
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t file = (i * (2 * t + 1) + t) % files.size();
        try {
          if (!files.reads_right(file)) ++wrong;
          if (i % 8 == 0) files[file].will_need(0, file_bytes);
        } catch (const dataset_error&) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(files.count_open() == room);
}

TEST_CASE("kept descriptors: threads open one file again at once, and it is opened once",
          "[dataset][host]") {
  const many_files files{1};
  constexpr std::size_t threads = 8;
  std::atomic<std::size_t> wrong{0};
  for (int round = 0; round < 50; ++round) {
    while (close_kept_descriptors(16) != 0) continue;
    const std::size_t before = test::descriptor_count();
    std::atomic<std::size_t> waiting{threads};
    std::vector<std::thread> readers;
    for (std::size_t t = 0; t < threads; ++t) {
      readers.emplace_back([&] {
        for (--waiting; waiting != 0;) std::this_thread::yield();
        if (!files.reads_right(0)) ++wrong;
      });
    }
    for (std::thread& reader : readers) reader.join();
    if (test::descriptor_count() != before + 1) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("kept descriptors: a child of fork can let its files go, whatever others were at",
          "[dataset][host]") {
  many_files files{2};
  std::atomic<bool> done{false};
  std::thread other{[&] {  // is in the set most of the time
    while (!done) (void)close_kept_descriptors(0);
  }};
  int well = 0;
  for (int round = 0; round < 100; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      files.close_all();
      ::_exit(0);
    }
    int status = -1;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) break;
    ++well;
  }
  done = true;
  other.join();
  CHECK(well == 100);
}
