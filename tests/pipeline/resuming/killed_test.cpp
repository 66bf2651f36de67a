/// A process that is killed at any moment, and resumed.

#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

using namespace feedline::test;

namespace {

/// A life of the program that trains.
class life {
 public:
  life(const std::string& checkpoint, int number) {
    REQUIRE(::pipe(to_.data()) == 0);
    REQUIRE(::pipe(from_.data()) == 0);
    const std::string readers = std::to_string(number % 3);
    const std::string batches = std::to_string(number % 4);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ != 0) {
      ::close(to_[0]);
      ::close(from_[1]);
      return;
    }
    ::dup2(to_[0], STDIN_FILENO);
    ::dup2(from_[1], STDOUT_FILENO);
    for (const int end : {to_[0], to_[1], from_[0], from_[1]}) ::close(end);
    ::execl(FEEDLINE_RESUME_PROGRAM, FEEDLINE_RESUME_PROGRAM, checkpoint.c_str(), readers.c_str(),
            batches.c_str(), nullptr);
    ::_exit(127);
  }
  life(const life&) = delete;
  life& operator=(const life&) = delete;
  ~life() {
    ::close(to_[1]);
    ::close(from_[0]);
  }

  /// Lets it take this many batches.
  void allow(int batches) {
    const std::string bytes(static_cast<std::size_t>(batches), '.');
    REQUIRE(::write(to_[1], bytes.data(), bytes.size()) == batches);
  }
  /// Blocks until it took this many, or has ended.
  void await(int batches) {
    char byte = 0;
    while (batches-- > 0 && ::read(from_[0], &byte, 1) == 1) {
    }
  }
  /// Status of `waitpid` for it.
  [[nodiscard]] int end() const {
    int status = 0;
    REQUIRE(::waitpid(process_, &status, 0) == process_);
    return status;
  }
  void kill() const { ::kill(process_, SIGKILL); }

 private:
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  pid_t process_ = 0;
};

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE(
    "resume: a training that is killed at random moments ends with an undisturbed one's "
    "weights, bitwise",
    "[loader][host]") {
  constexpr int batches = 4 * 63;
  const temporary_directory folder;
  const std::string undisturbed = folder.path() / "undisturbed";
  {
    life whole{undisturbed, 0};
    whole.allow(batches);
    REQUIRE(whole.end() == 0);
  }
  const std::string expected = content_of(undisturbed);
  REQUIRE(expected.find("\"epoch\": 4, \"batch\": 0,") != std::string::npos);

  const std::string disturbed = folder.path() / "disturbed";
  std::mt19937 engine{std::random_device{}()};
  int killed = 0;
  for (int number = 1; number < 1000; ++number) {
    life one{disturbed, number};
    const int allowed = 1 + static_cast<int>(engine() % 10);
    one.allow(allowed);
    one.await(static_cast<int>(engine() % static_cast<unsigned>(allowed + 1)));
    one.kill();
    const int status = one.end();
    if (!WIFSIGNALED(status)) {  // it came to its end before
      REQUIRE(status == 0);
      break;
    }
    ++killed;
  }
  CHECK(killed >= batches / 10 - 1);
  CHECK(content_of(disturbed) == expected);
}
