/// feedline_bench_remote: how fast a loader reads rows of a web server that is near or far. The
/// server runs in a process of its own, and answers each request after the latency.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/command_line.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/http/server.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

using namespace feedline;

namespace {

/// Serves rows until its input ends. Runs in a process of its own. @return Never.
[[noreturn]] void serve(int out, int until, std::uint64_t rows, std::uint64_t row_bytes,
                        int latency_ms) {
  test::http_server server;
  server.put("/rows.npy",
             test::npy_bytes(test::npy_dictionary("|u1", "(" + std::to_string(rows) + ", " +
                                                             std::to_string(row_bytes) + ")"),
                             test::numbered(rows * row_bytes)));
  server.set_latency(std::chrono::milliseconds{latency_ms});
  const int port = server.port();
  char end = 0;
  const bool told = ::write(out, &port, sizeof(port)) == sizeof(port);
  (void)!::read(until, &end, 1);
  ::_exit(told ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t rows = 4000;
  std::uint64_t row_bytes = 150'528;
  int batch = 256;
  int readers = 4;
  int epochs = 3;
  int latency_ms = 0;
  int most = remote_options{}.max_in_flight;
  test::command_line line{"Rows of a web server, in full shuffle"};
  line.add_option("--rows", rows, "rows of the array").positive();
  line.add_option("--row-bytes", row_bytes, "bytes of a row").positive();
  line.add_option("--batch", batch, "rows of a batch").positive();
  line.add_option("--readers", readers, "reader threads").positive();
  line.add_option("--epochs", epochs, "epochs, each of which is told").positive();
  line.add_option("--latency", latency_ms, "milliseconds until an answer begins");
  line.add_option("--max-in-flight", most, "remote_options::max_in_flight").positive();
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  int from_server[2];  // NOLINT(modernize-avoid-c-arrays)
  int to_server[2];    // NOLINT(modernize-avoid-c-arrays)
  if (::pipe(from_server) != 0 || ::pipe(to_server) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(to_server[1]);
    serve(from_server[1], to_server[0], rows, row_bytes, latency_ms);
  }
  int port = 0;
  if (::read(from_server[0], &port, sizeof(port)) != sizeof(port)) return 1;

  mount_remote_files({.max_in_flight = most});
  const auto data = open("http://127.0.0.1:" + std::to_string(port) + "/rows.npy");
  loader loader{data,
                shuffle{},
                make_host_device(),
                {.batch_size = static_cast<std::uint64_t>(batch), .readers = readers}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto begun = std::chrono::steady_clock::now();
    std::chrono::duration<double> first{};
    std::uint64_t bytes = 0;
    for (feedline::batch& each : loader.epoch(static_cast<std::uint64_t>(epoch))) {
      if (bytes == 0) first = std::chrono::steady_clock::now() - begun;
      bytes += each.size() * row_bytes;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("epoch %d: %.2f GB/s, first batch after %.0f ms\n", epoch,
                static_cast<double>(bytes) / took.count() / 1e9, 1e3 * first.count());
  }
  std::printf("%s\n", to_string(remote_counts()).c_str());
  ::close(to_server[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return 0;
}
