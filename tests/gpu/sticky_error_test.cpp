/// A kernel of the user's that breaks the GPU's context: every later call fails, so it is tried in
/// a process of its own.

#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

struct ended {
  int status;        ///< status of waitpid
  std::string told;  ///< its output
};

ended run_broken(const std::string& placement, int readers) {
  const std::string command =
      std::string{FEEDLINE_STICKY_ERROR_PROGRAM} + ' ' + placement + ' ' + std::to_string(readers);
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, {}};
  std::string told;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) told += line.data();
  return {::pclose(pipe), told};
}

}  // namespace

TEST_CASE("sticky error: a user's kernel that breaks the context is reported, and nothing hangs",
          "[loader][gpu][broken_context]") {
  FEEDLINE_NEEDS_GPU();
  const std::string placement = GENERATE("stream", "gather", "resident");
  const int readers = GENERATE(0, 2);
  CAPTURE(placement, readers);
  const ended program = run_broken(placement, readers);
  CAPTURE(program.told);
  REQUIRE(WIFEXITED(program.status));
  CHECK(WEXITSTATUS(program.status) == 0);
  CHECK(program.told.find("illegal memory access") != std::string::npos);
}
