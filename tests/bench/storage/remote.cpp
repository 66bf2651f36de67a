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

#include "bench/processor.hpp"
#include "bench/support/child_server.hpp"
#include "bench/support/delivered.hpp"
#include "support/command_line.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/http/server.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <sched.h>

using namespace feedline;

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

  const bench::child_server server{[&](test::http_server& objects) {
    objects.put("/rows.npy",
                test::npy_bytes(test::npy_dictionary("|u1", "(" + std::to_string(rows) + ", " +
                                                                std::to_string(row_bytes) + ")"),
                                test::numbered(rows * row_bytes)));
    objects.set_latency(std::chrono::milliseconds{latency_ms});
  }};
  const std::string address = "http://127.0.0.1:" + std::to_string(server.port()) + "/rows.npy";
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  (void)::sched_getaffinity(0, sizeof(allowed), &allowed);
  std::printf("machine: %s, %d cores for the client and the server\n", bench::processor().c_str(),
              CPU_COUNT(&allowed));
  std::printf(
      "method: %llu rows of %llu bytes by HTTP from a process on the loopback device, each answer "
      "%d ms late; %s, batches of %d, %d readers, host device; rates are of rows in batches\n",
      static_cast<unsigned long long>(rows), static_cast<unsigned long long>(row_bytes), latency_ms,
      in_order ? "in order" : "full shuffle", batch, readers);

  mount_remote_files(
      {.max_in_flight = most, .read_ahead_bytes = ahead_mib << 20, .threads = threads});
  const auto data = open(address);
  loader loader{data,
                in_order ? sampler{sequential{}} : sampler{shuffle{}},
                make_host_device(),
                {.batch_size = static_cast<std::uint64_t>(batch), .readers = readers}};
  std::printf(
      "| epoch | GB/s | first batch, ms | CPU of the client, ns a byte | requests |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto begun = std::chrono::steady_clock::now();
    const double cpu_before = bench::process_cpu_seconds();
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
                1e3 * first.count(), (bench::process_cpu_seconds() - cpu_before) / total * 1e9,
                static_cast<unsigned long long>(remote_counts().requests - requests_before));
  }
  std::printf("%s\n", to_string(remote_counts()).c_str());
  return 0;
}
