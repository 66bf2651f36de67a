#include "io/local/file.hpp"

#include <feedline/io/map_files.hpp>

#include "io/local/watch.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/cold_file.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace std::chrono_literals;

namespace {

using test::numbered;

std::vector<std::byte> copied(const local_file& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> bytes(count);
  file.read(offset, bytes);
  return bytes;
}

std::string complaint(const local_file& file) {
  return test::message_of<dataset_error>([&] { file.require_unchanged(); });
}

const std::string unharmed = "[nothing was thrown]";
const std::string advice = "; a file must stay as it is while it is read: open it again";

}  // namespace

TEST_CASE("local file: its bytes are the same mapped and read", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = numbered(100'000);
  const auto path = folder.write("rows.bin", bytes);
  const local_file mapped{path, file_access::mapped};
  const local_file read{path, file_access::by_calls};
  CHECK(mapped.name() == path);
  CHECK(mapped.size() == 100'000);
  CHECK(read.mapped().empty());
  const auto all = mapped.mapped();
  CHECK(std::vector<std::byte>(all.begin(), all.end()) == bytes);
  for (const std::uint64_t offset : {0U, 1U, 4095U, 4096U, 99'999U}) {
    const std::size_t count = std::min<std::size_t>(5000, 100'000 - offset);
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    const std::vector<std::byte> expected(at, at + static_cast<std::ptrdiff_t>(count));
    CHECK(copied(mapped, offset, count) == expected);
    CHECK(copied(read, offset, count) == expected);
  }
}

TEST_CASE("local file: nothing beyond its end is read", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(100));
  const local_file file{path, GENERATE(file_access::mapped, file_access::by_calls)};
  const auto refusal = [&](std::uint64_t offset, std::size_t count) {
    return test::message_of<dataset_error>([&] { (void)copied(file, offset, count); });
  };
  CHECK(refusal(90, 10) == unharmed);
  CHECK(refusal(100, 0) == unharmed);
  CHECK(refusal(90, 11) ==
        path.string() + ": byte 90: there are no 11 bytes here: the file has 100");
  CHECK(refusal(~std::uint64_t{0}, 2) ==
        path.string() + ": byte 18446744073709551615: there are no 2 bytes here: the file has 100");
}

TEST_CASE("local file: an empty file is a file", "[dataset][host]") {
  const test::temporary_directory folder;
  const local_file file{folder.write("empty", {}),
                        GENERATE(file_access::mapped, file_access::automatic)};
  CHECK(file.size() == 0);
  CHECK(file.mapped().empty());
  CHECK_FALSE(file.is_cold());
  CHECK(complaint(file) == unharmed);
}

TEST_CASE("local file: a file that is not regular is refused with a remedy", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto refusal = [](const std::filesystem::path& path) {
    return test::message_of<dataset_error>([&] { const local_file file{path}; });
  };
  const std::string missing = folder.path() / "missing";
  const std::string pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal(missing) ==
        missing +
            ": cannot be opened: No such file or directory; check the path and its permissions");
  CHECK(refusal(folder.path()) == folder.path().string() + ": is a directory; name a file in it");
  CHECK(refusal(pipe) ==
        pipe + ": is not a regular file, so it cannot be read at random; copy it into one");
}

TEST_CASE("local file: any change by others is reported, mapped or read, and reported again",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const auto change = GENERATE(values(test::all_file_changes));
  const std::uint64_t size = GENERATE(100U, 4096U, 3 * 4096U + 17);
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(size));
  test::let_age(path);
  const local_file file{path, how, 0ns};
  REQUIRE(complaint(file) == unharmed);
  test::change_file(path, change);
  for (int i = 0; i < 2; ++i)
    CHECK(complaint(file) == path.string() + ": " + test::words_for(change, size) + advice);
}

TEST_CASE(
    "local file: a file that was only touched is reported as such, and is valid with its old time",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(100));
  test::let_age(path);
  const auto written = std::filesystem::last_write_time(path);
  const local_file file{path, GENERATE(file_access::mapped, file_access::by_calls), 0ns};
  std::filesystem::last_write_time(path, written + 1s);
  CHECK(complaint(file) ==
        path.string() +
            ": was written to since it was opened, or only its time was set (touch): its size is "
            "the same, and only reading all of it would tell" +
            advice);
  std::filesystem::last_write_time(path, written);
  CHECK(complaint(file) == unharmed);
}

TEST_CASE(
    "local file: bytes that were cut off read as zeros if the file is mapped, and that is "
    "reported",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(10 * 4096));
  const local_file file{path, file_access::mapped, 1h};
  const auto bytes = file.mapped();
  REQUIRE(bytes[9 * 4096 + 1] == numbered(10 * 4096)[9 * 4096 + 1]);
  std::filesystem::resize_file(path, 4096);
  CHECK(bytes[9 * 4096 + 1] == std::byte{0});
  CHECK(complaint(file) ==
        path.string() + ": " + "was cut from 40960 to 4096 bytes since it was opened" + advice);
  CHECK(file.mapped().empty());  // lost bytes are given to no other caller
}

TEST_CASE("local file: a file that was cut and has its bytes again is not taken for unharmed",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = numbered(10 * 4096);
  const auto path = folder.write("rows.bin", bytes);
  test::let_age(path);
  const auto written = std::filesystem::last_write_time(path);
  const local_file file{path, file_access::mapped, 1h};
  const auto mapped = file.mapped();
  std::filesystem::resize_file(path, 0);
  CHECK(mapped[5000] == std::byte{0});
  folder.write("rows.bin", bytes);
  std::filesystem::last_write_time(path, written);
  CHECK(complaint(file) == path.string() +
                               ": lost bytes since it was opened: it was cut for a while, or its "
                               "disk cannot be read" +
                               advice);
}

TEST_CASE("local file: if it is read by calls, a read says where it was cut", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(1000));
  const local_file file{path, file_access::by_calls};
  std::filesystem::resize_file(path, 400);
  CHECK(copied(file, 300, 100).size() == 100);
  CHECK(test::message_of<dataset_error>([&] { (void)copied(file, 300, 200); }) ==
        path.string() +
            ": byte 400: ends here; it was cut since it was opened, when it had 1000 bytes; open "
            "it again");
}

TEST_CASE("local file: its path is checked no more often than documented", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(1000));
  const local_file rarely{path, file_access::by_calls, 1h};
  const local_file always{path, file_access::by_calls, 0ns};
  CHECK(complaint(rarely) == unharmed);  // its first look is over
  std::filesystem::remove(path);
  CHECK(complaint(always) == path.string() + ": was deleted or moved since it was opened" + advice);
  CHECK(complaint(rarely) == unharmed);
}

TEST_CASE("local file: a path that was another file's for a while stays an error",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(1000));
  const auto aside = folder.path() / "aside";
  const local_file file{path, file_access::by_calls, 0ns};
  std::filesystem::rename(path, aside);
  CHECK_FALSE(complaint(file) == unharmed);
  std::filesystem::rename(aside, path);
  CHECK(complaint(file) ==
        path.string() + ": was replaced or deleted for a while since it was opened" + advice);
}

TEST_CASE("local file: a working directory that changes is no change of the file",
          "[dataset][host]") {
  const test::temporary_directory folder;
  folder.write("rows.bin", numbered(1000));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const local_file file{"rows.bin", file_access::automatic, 0ns};
  std::filesystem::current_path(before);
  CHECK(complaint(file) == unharmed);
}

TEST_CASE("local file: one that is not in memory is read by calls, and mapped once it is there",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(4 << 20));
  if (test::drop_from_memory(path) > 0.5)
    FEEDLINE_SKIP("this file system does not drop files from memory");
  const local_file file{path, file_access::automatic, 0ns};
  CHECK(file.is_cold());
  CHECK(file.mapped().empty());
  CHECK(copied(file, 0, 4 << 20) == numbered(4 << 20));
  // The system may take pages away between two looks: then it is read, and looked at, again.
  for (int again = 0; again < 100 && file.is_cold(); ++again) (void)copied(file, 0, 4 << 20);
  CHECK_FALSE(file.is_cold());
  CHECK(file.mapped().size() == 4 << 20);
}

TEST_CASE("local file: both ways to find the pages in memory agree", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::uint64_t size = 32U << 20U;
  const auto path = folder.write("rows.bin", numbered(size));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  CHECK(resident_share(file, size) == 1.0);
  CHECK(resident_share(file, 0) == 1.0);
  CHECK(resident_share_by_cachestat(file, size).value_or(1.0) == 1.0);  // nothing before Linux 6.5
  CHECK(resident_share_by_reads(file, size).value_or(1.0) == 1.0);
  if (test::drop_from_memory(path) < 0.5) {
    CHECK(resident_share_by_cachestat(file, size).value_or(0.0) == 0.0);
    // Asking brings in a page a question: 64 of 8192. A virtual disk may have answered before the
    // system refuses, a question after another for a while: then it is asked again.
    const auto adaptive_spin = std::chrono::steady_clock::now() + 20s;
    double told = resident_share_by_reads(file, size).value_or(0.0);
    while (told >= 0.2 && std::chrono::steady_clock::now() < adaptive_spin) {
      (void)test::drop_from_memory(path);
      told = resident_share_by_reads(file, size).value_or(0.0);
    }
    CHECK(told < 0.2);
    CHECK(resident_share_by_cachestat(file, size).value_or(0.0) < 0.2);
  }
  ::close(file);
}

TEST_CASE("local file: announced bytes come into memory by themselves", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(4 << 20));
  if (test::drop_from_memory(path) > 0.5)
    FEEDLINE_SKIP("this file system does not drop files from memory");
  const local_file file{path, file_access::automatic, 0ns};
  REQUIRE(file.is_cold());
  file.will_need(0, 4 << 20);
  file.will_need(~std::uint64_t{0}, 1);  // beyond its end: nothing to do
  const auto adaptive_spin = std::chrono::steady_clock::now() + 30s;
  while (file.is_cold() && std::chrono::steady_clock::now() < adaptive_spin)
    std::this_thread::yield();
  CHECK_FALSE(file.is_cold());
}

TEST_CASE("local file: sixteen threads read it while it is cut: each gets an error, none is killed",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const test::temporary_directory folder;
  const auto bytes = numbered(256 * 4096);
  const auto path = folder.write("rows.bin", bytes);
  const local_file file{path, how, 0ns};
  constexpr int threads = 16;
  std::atomic<int> reading{0};
  std::atomic<int> told{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < threads; ++t) {
    readers.emplace_back([&, t] {
      std::vector<std::byte> page(4096);
      for (std::uint64_t i = static_cast<std::uint64_t>(t);; ++i) {
        const std::uint64_t at = i * 37 % 256 * 4096;
        try {
          const auto mapped = file.mapped();
          if (mapped.empty())
            file.read(at, page);
          else
            std::copy_n(mapped.data() + at, 4096, page.data());
          file.require_unchanged();
        } catch (const dataset_error&) {
          ++told;
          return;
        }
        if (!std::equal(page.begin(), page.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)))
          ++wrong;
        if (i == static_cast<std::uint64_t>(t)) ++reading;
      }
    });
  }
  while (reading + told < threads) std::this_thread::yield();
  std::filesystem::resize_file(path, 0);
  for (std::thread& reader : readers) reader.join();
  CHECK(told == threads);
  CHECK(wrong == 0);
}

TEST_CASE("local file: map_files says how files that are opened from then on are read",
          "[dataset][host]") {
  // In memory: nothing else keeps it from being mapped.
  const int number = ::memfd_create("rows", MFD_CLOEXEC);
  REQUIRE(::pwrite(number, "rows", 4, 0) == 4);
  const auto file = [path = "/proc/self/fd/" + std::to_string(number)] {
    return std::make_unique<const local_file>(path, file_access::automatic);
  };
  REQUIRE(may_map_files());
  const auto before = file();
  map_files(false);
  CHECK_FALSE(may_map_files());
  const auto meanwhile = file();
  map_files(true);
  CHECK_FALSE(before->mapped().empty());
  CHECK(meanwhile->mapped().empty());
  CHECK(copied(*meanwhile, 0, 4) == copied(*before, 0, 4));
  CHECK_FALSE(file()->mapped().empty());
  ::close(number);
}
