#include "io/local/mapping.hpp"
#include "support/checks/catch.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <spawn.h>

using namespace feedline::detail;

namespace {

/// A file in memory, of whole pages.
class cut_file {
 public:
  explicit cut_file(off_t bytes) : number_{::memfd_create("cut", MFD_CLOEXEC)} { resize(bytes); }
  cut_file(const cut_file&) = delete;
  cut_file& operator=(const cut_file&) = delete;
  ~cut_file() { ::close(number_); }
  void resize(off_t bytes) const {
    if (::ftruncate(number_, bytes) != 0) std::abort();
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// How a process of its own ends: its exit status, or minus the signal that ended it.
int outcome(std::string before, std::string event) {
  std::string program = FEEDLINE_BUS_GUARD_PROGRAM;
  // Sanitizers would handle the signal themselves, in front of the default.
  std::vector<std::string> settings{"ASAN_OPTIONS=handle_sigbus=0", "TSAN_OPTIONS=handle_sigbus=0"};
  std::vector<char*> arguments{program.data(), before.data(), event.data(), nullptr};
  std::vector<char*> environment{settings[0].data(), settings[1].data(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(),
                    environment.data()) != 0)
    std::abort();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("bus guard: a mapping whose file was cut reads as zeros, all of it, and is marked",
          "[dataset][host]") {
  const cut_file file{4 * 4096};
  REQUIRE(::pwrite(file.number(), "abc", 3, 0) == 3);
  const auto mapping = file_mapping::of(file.number(), 4 * 4096);
  REQUIRE(mapping);
  const volatile std::byte* const bytes = mapping->bytes().data();
  CHECK(bytes[1] == std::byte{'b'});
  file.resize(4096);
  CHECK(bytes[1] == std::byte{'b'});
  CHECK_FALSE(mapping->lost());
  CHECK(bytes[3 * 4096 + 5] == std::byte{0});
  CHECK(mapping->lost());
  CHECK(bytes[1] == std::byte{0});
}

TEST_CASE("bus guard: other mappings stay unchanged", "[dataset][host]") {
  const cut_file file{4096};
  const cut_file other{4096};
  REQUIRE(::pwrite(other.number(), "abc", 3, 0) == 3);
  const auto before = file_mapping::of(other.number(), 4096);
  const auto mapping = file_mapping::of(file.number(), 4096);
  const auto behind = file_mapping::of(other.number(), 4096);
  file.resize(0);
  CHECK(*static_cast<const volatile std::byte*>(mapping->bytes().data()) == std::byte{0});
  CHECK(mapping->lost());
  for (const auto* one : {&before, &behind}) {
    CHECK_FALSE((*one)->lost());
    CHECK((*one)->bytes()[2] == std::byte{'c'});
  }
}

TEST_CASE("bus guard: threads that fault at once all read zeros", "[dataset][host]") {
  constexpr std::ptrdiff_t threads = 8;
  for (int round = 0; round < 50; ++round) {
    const cut_file file{threads * 4096};
    const auto mapping = file_mapping::of(file.number(), threads * 4096);
    REQUIRE(mapping);
    file.resize(0);
    std::barrier start{threads};
    std::atomic<int> zeros{0};
    std::vector<std::thread> readers;
    for (std::ptrdiff_t t = 0; t < threads; ++t) {
      readers.emplace_back([&, t] {
        const volatile std::byte* const page = mapping->bytes().data() + t * 4096;
        start.arrive_and_wait();
        if (*page == std::byte{0}) ++zeros;
      });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(zeros == threads);
    CHECK(mapping->lost());
  }
}

TEST_CASE("bus guard: faults find their mapping while other mappings come and go",
          "[dataset][host]") {
  const cut_file whole{4096};
  std::atomic<bool> done{false};
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t) {
    others.emplace_back([&] {
      while (!done) (void)file_mapping::of(whole.number(), 4096);
    });
  }
  int lost = 0;
  for (int round = 0; round < 500; ++round) {
    const cut_file file{4096};
    const auto mapping = file_mapping::of(file.number(), 4096);
    file.resize(0);
    const volatile std::byte* const bytes = mapping->bytes().data();
    if (*bytes == std::byte{0} && mapping->lost()) ++lost;
  }
  done = true;
  for (std::thread& other : others) other.join();
  CHECK(lost == 500);
}

TEST_CASE("bus guard: a file that is mapped again is not lost because it was once",
          "[dataset][host]") {
  const cut_file file{4096};
  auto first = file_mapping::of(file.number(), 4096);
  file.resize(0);
  CHECK(*static_cast<const volatile std::byte*>(first->bytes().data()) == std::byte{0});
  first.reset();
  file.resize(4096);
  CHECK_FALSE(file_mapping::of(file.number(), 4096)->lost());
}

TEST_CASE("bus guard: it takes as many mappings as it has entries, and reports when it is full",
          "[dataset][host]") {
  const cut_file file{4096};
  std::vector<std::unique_ptr<const file_mapping>> mappings;
  while (auto mapping = file_mapping::of(file.number(), 4096)) {
    mappings.push_back(std::move(mapping));
    REQUIRE(mappings.size() < 100'000);
  }
  CHECK(mappings.size() >= 4000);
  mappings.erase(mappings.begin() + 1000);
  CHECK(file_mapping::of(file.number(), 4096) != nullptr);
}

TEST_CASE("bus guard: every other fault goes to the earlier handler", "[dataset][host]") {
  CHECK(outcome("default", "guarded") == 0);
  CHECK(outcome("plain", "guarded") == 0);
  CHECK(outcome("detailed", "guarded") == 0);
  CHECK(outcome("default", "foreign") == -SIGBUS);
  CHECK(outcome("ignore", "foreign") == -SIGBUS);  // a fault cannot be ignored
  CHECK(outcome("plain", "foreign") == 41);
  CHECK(outcome("detailed", "foreign") == 42);
  CHECK(outcome("detailed", "ended") == 42);
}

TEST_CASE("bus guard: a signal that is sent goes to the earlier handler", "[dataset][host]") {
  CHECK(outcome("default", "sent") == -SIGBUS);
  CHECK(outcome("ignore", "sent") == 0);
  CHECK(outcome("plain", "sent") == 41);
  CHECK(outcome("detailed", "sent") == 42);
}

TEST_CASE("bus guard: files are not mapped while a handler is in place that was installed later",
          "[dataset][host]") {
  CHECK(outcome("plain", "later") == 0);
  CHECK(outcome("detailed", "later") == 0);
}

TEST_CASE("bus guard: several copies of the library in a process all keep their files mapped",
          "[dataset][host]") {
  CHECK(outcome("default", "copy") == 0);
  CHECK(outcome("detailed", "copy") == 0);
  CHECK(outcome("default", "copy, foreign") == -SIGBUS);
  CHECK(outcome("plain", "copy, foreign") == 41);
  CHECK(outcome("detailed", "copy, foreign") == 42);
}

TEST_CASE("bus guard: a copy of the library that is closed leaves a handler that works",
          "[dataset][host]") {
  CHECK(outcome("default", "closed copy") == 0);
  CHECK(outcome("default", "closed copy, foreign") == -SIGBUS);
  CHECK(outcome("plain", "closed copy, foreign") == 41);
  CHECK(outcome("detailed", "closed copy, foreign") == 42);
}

TEST_CASE("bus guard: a copy of the library that another's handler cuts off knows it",
          "[dataset][host]") {
  CHECK(outcome("plain", "copy behind another") == 0);
  CHECK(outcome("detailed", "copy behind another") == 0);
}

TEST_CASE("bus guard: a program that wants no mapped files gets no handler", "[dataset][host]") {
  CHECK(outcome("default", "not mapped") == 0);
}
