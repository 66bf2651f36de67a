/// feedline_bench_remote: how fast a loader reads rows of a web server that is near or far. The
/// server runs in a process of its own, and answers each request after the latency. Prints the
/// machine, the method and a table.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/command_line.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/http/server.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <sched.h>

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

/// A server in a child process.
class server_process {
 public:
  server_process(std::uint64_t rows, std::uint64_t row_bytes, int latency_ms) {
    int from[2];  // NOLINT(modernize-avoid-c-arrays)
    int to[2];    // NOLINT(modernize-avoid-c-arrays)
    if (::pipe(from) != 0 || ::pipe(to) != 0) throw std::runtime_error{"no pipe"};
    child_ = ::fork();
    if (child_ == 0) {
      ::close(to[1]);
      serve(from[1], to[0], rows, row_bytes, latency_ms);
    }
    ends_ = to[1];
    if (::read(from[0], &port_, sizeof(port_)) != sizeof(port_))
      throw std::runtime_error{"the server does not start"};
  }
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;
  ~server_process() {
    ::close(ends_);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  [[nodiscard]] std::string address() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/rows.npy";
  }

 private:
  pid_t child_ = -1;
  int ends_ = -1;
  int port_ = 0;
};

/// Time that this process's threads have spent on cores.
double cpu_seconds() {
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string processor() {
  std::ifstream lines{"/proc/cpuinfo"};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// Each connection is an open file, on both sides.
void raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
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
  int threads = 0;
  std::uint64_t ahead_mib = remote_options{}.read_ahead_bytes >> 20;
  bool in_order = false;
  test::command_line line{"Rows of a web server, in full shuffle"};
  line.add_option("--rows", rows, "rows of the array").positive();
  line.add_option("--row-bytes", row_bytes, "bytes of a row").positive();
  line.add_option("--batch", batch, "rows of a batch").positive();
  line.add_option("--readers", readers, "reader threads").positive();
  line.add_option("--epochs", epochs, "epochs, each of which is told").positive();
  line.add_option("--latency", latency_ms, "milliseconds until an answer begins");
  line.add_option("--max-in-flight", most, "remote_options::max_in_flight").positive();
  line.add_option("--threads", threads, "remote_options::threads; 0: chosen");
  line.add_option("--ahead", ahead_mib, "MiB of remote_options::read_ahead_bytes");
  line.add_flag("--in-order", in_order, "rows in their order instead of shuffled");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  raise_open_files();
  const server_process server{rows, row_bytes, latency_ms};
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  (void)::sched_getaffinity(0, sizeof(allowed), &allowed);
  std::printf("machine: %s, %d cores for the client and the server\n", processor().c_str(),
              CPU_COUNT(&allowed));
  std::printf(
      "method: %llu rows of %llu bytes by HTTP from a process on the loopback device, each answer "
      "%d ms late; %s, batches of %d, %d readers, host device; rates are of rows in batches\n",
      static_cast<unsigned long long>(rows), static_cast<unsigned long long>(row_bytes), latency_ms,
      in_order ? "in order" : "full shuffle", batch, readers);

  mount_remote_files(
      {.max_in_flight = most, .read_ahead_bytes = ahead_mib << 20, .threads = threads});
  const auto data = open(server.address());
  loader loader{data,
                in_order ? sampler{sequential{}} : sampler{shuffle{}},
                make_host_device(),
                {.batch_size = static_cast<std::uint64_t>(batch), .readers = readers}};
  std::printf(
      "| epoch | GB/s | first batch, ms | CPU of the client, ns a byte | requests |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto begun = std::chrono::steady_clock::now();
    const double cpu_before = cpu_seconds();
    const std::uint64_t requests_before = remote_counts().requests;
    std::chrono::duration<double> first{};
    std::uint64_t bytes = 0;
    for (feedline::batch& each : loader.epoch(static_cast<std::uint64_t>(epoch))) {
      if (bytes == 0) first = std::chrono::steady_clock::now() - begun;
      bytes += each.size() * row_bytes;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const auto total = static_cast<double>(bytes);
    std::printf("| %d | %.2f | %.0f | %.3f | %llu |\n", epoch, total / took.count() / 1e9,
                1e3 * first.count(), (cpu_seconds() - cpu_before) / total * 1e9,
                static_cast<unsigned long long>(remote_counts().requests - requests_before));
  }
  std::printf("%s\n", to_string(remote_counts()).c_str());
  return 0;
}
