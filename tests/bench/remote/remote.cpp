/// feedline_bench_remote: how fast a loader reads objects of a web server that is near or far, to a
/// GPU with --gpu. Prints the machine, the method and tables.
///
///     feedline_bench_remote --gpu --data-mib 6144
///     feedline_bench_remote --forms npy-shuffle --peer "python3 tests/bench/remote/peer.py --gpu"
///
/// Method: files are written to a folder in memory and served from there by another process, by
/// sendfile, on cores of its own; each answer begins after the latency. The client has some cores
/// alone, and is a new process for each row of the table. Before it, a bare client measures on the
/// same cores what the kernel's copies allow. Rates are of rows in batches; GB/s of the network are
/// the server's count, and the rows' with --local. "open" and "first" end with the opened dataset
/// and the first batch, each from its own beginning; round trips are their sum over the latency.
/// "steady" is the rate after an epoch's first quarter. A consumer does nothing.

#include <feedline/error.hpp>
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>

#include "bench/processor.hpp"
#include "bench/remote/bare_client.hpp"
#include "bench/remote/caches.hpp"
#include "bench/remote/client_process.hpp"
#include "bench/remote/file_server.hpp"
#include "bench/remote/forms.hpp"
#include "bench/support/child_server.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/destination.hpp"
#include "bench/support/measure.hpp"
#include "support/command_line.hpp"

#include <spdlog/spdlog.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

namespace fs = std::filesystem;

struct settings {
  std::vector<std::string> forms;
  std::vector<int> latencies{0, 50};
  std::uint64_t data_mib = 1024;
  std::uint64_t window_mib = 512;
  std::uint64_t batch = 256;
  int readers = 4;
  int epochs = 4;
  int client_cores = 4;
  int threads = remote_options{}.threads;
  int max_in_flight = remote_options{}.max_in_flight;
  std::uint64_t ahead_mib = remote_options{}.read_ahead_bytes >> 20;
  double bare_seconds = 0.5;
  int bare_connections = 64;
  std::string folder;
  std::string peer;
  double cache_share = 0;
  std::string cache_folder;
  bool gpu = false;
  bool counts = false;
  bool local = false;
  std::uint64_t request_kib = 0;
  bool by_libcurl = false;
};

/// Cores of the client and of the server; apart, if there are enough.
struct shared_out {
  std::vector<unsigned> client, server;

  explicit shared_out(int wanted) : client{allowed_cores()}, server{client} {
    const auto count = static_cast<std::ptrdiff_t>(wanted);
    if (wanted <= 0 || std::ssize(client) < 2 * count) return;
    server.assign(client.begin() + count, client.end());
    client.resize(static_cast<std::size_t>(count));
  }
};

/// One row of the table: epochs of a loader with all of its work until the last batch is there.
/// @param latency_ms Negative: the files are read without the server.
void run_loader(const form& of, const written_form& data, const file_server& server, int latency_ms,
                const settings& how) {
  mount_remote_files({.max_in_flight = how.max_in_flight,
                      .read_ahead_bytes = how.ahead_mib << 20,
                      .threads = how.threads,
                      .direct_connections = !how.by_libcurl});
  const destination to{how.gpu};
  const auto opening = clock_type::now();
  const bool is_local = latency_ms < 0;
  const dataset_ptr rows = data.open(
      is_local ? how.folder + "/" : "http://127.0.0.1:" + std::to_string(server.port()) + "/");
  const double open_seconds = seconds_since(opening);
  loader loader{rows,
                data.order,
                to.device(),
                {.batch_size = how.batch,
                 .epochs = static_cast<std::uint64_t>(how.epochs),
                 .readers = how.readers,
                 .decode_on = how.gpu ? data.decodes : decode_on::cpu,
                 .expert = {.request_bytes = how.request_kib << 10}}};
  double first_seconds = 0;
  std::vector<double> rates;
  std::vector<double> steady;
  const std::uint64_t quarter = rows->size() / 4 * data.row_bytes;
  const meter timer;
  std::uint64_t bytes = 0;
  const double server_cpu = server.cpu_seconds();
  const std::uint64_t sent = server.body_bytes();
  const std::uint64_t requests = server.requests();
  const auto begun = clock_type::now();
  for (int epoch = 0; epoch < how.epochs; ++epoch) {
    const auto epoch_begun = clock_type::now();
    std::uint64_t of_epoch = 0;
    std::uint64_t at_quarter = 0;
    auto quarter_passed = epoch_begun;
    for (batch& each : loader.epoch(static_cast<std::uint64_t>(epoch), to.stream())) {
      if (first_seconds == 0) {
        to.wait();
        first_seconds = seconds_since(begun);
      }
      of_epoch += each.size() * data.row_bytes;
      if (at_quarter == 0 && of_epoch >= quarter) {
        at_quarter = of_epoch;
        quarter_passed = clock_type::now();
      }
    }
    to.wait();
    steady.push_back(static_cast<double>(of_epoch - at_quarter) / seconds_since(quarter_passed));
    rates.push_back(static_cast<double>(of_epoch) / seconds_since(epoch_begun));
    bytes += of_epoch;
  }
  const delivered all = timer.stop(0, bytes);
  const auto from_server = static_cast<double>(is_local ? bytes : server.body_bytes() - sent);
  std::string trips = "-";
  if (latency_ms > 0) {
    char text[16];  // NOLINT(modernize-avoid-c-arrays)
    (void)std::snprintf(text, sizeof text, "%.1f",
                        (open_seconds + first_seconds) * 1e3 / latency_ms);
    trips = text;
  }
  std::vector<double> later(rates.begin() + (rates.size() > 1 ? 1 : 0), rates.end());
  std::ranges::sort(later);
  std::printf(
      "%-12s %7s %8.2f %8.2f [%6.2f, %6.2f] %8.2f %8.2f %7.0f %7.0f %6s %8.3f %6.2f %7.2f %9llu "
      "%6llu\n",
      of.name.c_str(), is_local ? "local" : std::to_string(latency_ms).c_str(), rates.front() / 1e9,
      later[later.size() / 2] / 1e9, later.front() / 1e9, later.back() / 1e9, median(steady) / 1e9,
      from_server / all.seconds / 1e9, open_seconds * 1e3, first_seconds * 1e3, trips.c_str(),
      all.cpu_seconds / from_server * 1e9, all.busy_cores(),
      (server.cpu_seconds() - server_cpu) / all.seconds,
      static_cast<unsigned long long>(server.requests() - requests),
      static_cast<unsigned long long>(remote_counts().most_in_flight));
  if (how.counts) {
    std::printf("  %s\n", to_string(remote_counts()).c_str());
    if (data.decodes == decode_on::device && how.gpu)
      std::printf("  decodes on the %s %s\n",
                  std::string{to_string(loader.plan().decode_on)}.c_str(),
                  loader.plan().decode_note.c_str());
  }
}

/// Rates of bare clients: the limits of the server, and of the kernel's copies to the client.
void run_bare(const written_form& data, const file_server& server, const shared_out& cores,
              const settings& how) {
  const auto row = [&](const char* who, const std::vector<unsigned>& on, bare_use use) {
    in_process([&] {
      stay_on(on);
      const double server_cpu = server.cpu_seconds();
      const auto begun = clock_type::now();
      const bare_rate found =
          measure_bare(server.port(), "/" + data.files.front(),
                       fs::file_size(fs::path{how.folder} / data.files.front()), data.request_bytes,
                       static_cast<int>(on.size()), how.bare_connections, use, how.bare_seconds);
      std::printf("bare client, %-28s %8.2f GB/s %8.3f ns a byte %6.2f cores, server %6.2f\n", who,
                  found.bytes_per_second / 1e9, found.cores / found.bytes_per_second * 1e9,
                  found.cores, (server.cpu_seconds() - server_cpu) / seconds_since(begun));
    });
  };
  row("discards", cores.client, bare_use::discard);
  row("one copy", cores.client, bare_use::one_copy);
  row("two copies, by 128 KiB", cores.client, bare_use::two_copies);
}

/// A program that reads the same file, on the client's cores.
void run_peer(const written_form& data, const file_server& server, const shared_out& cores,
              const settings& how) {
  in_process([&] {
    stay_on(cores.client);
    const std::string command =
        how.peer + " http://127.0.0.1:" + std::to_string(server.port()) + "/" + data.files.front();
    if (std::system(command.c_str()) != 0)  // NOLINT(cert-env33-c): the user's own
      std::printf("failed: %s\n", command.c_str());
  });
}

void run_form(const form& of, const shared_out& cores, const settings& how) {
  const fs::path folder = how.folder;
  const written_form data =
      of.write(folder, {.bytes = how.data_mib << 20, .window_bytes = how.window_mib << 20});
  std::printf("\n%s: %s; %.2f GB stored, requests of about %llu bytes\n", of.name.c_str(),
              of.words.c_str(), static_cast<double>(data.stored_bytes) / 1e9,
              static_cast<unsigned long long>(data.request_bytes));
  bool has_bare = how.bare_seconds > 0;
  for (const int latency : how.latencies) {
    const file_server server{folder,
                             {.latency = std::chrono::milliseconds{latency},
                              .threads = static_cast<int>(cores.server.size()),
                              .cores = cores.server}};
    if (latency == 0 && has_bare) run_bare(data, server, cores, how);
    has_bare = false;
    if (latency == how.latencies.front())
      std::printf("%-12s %7s %8s %8s %16s %8s %8s %7s %7s %6s %8s %6s %7s %9s %6s\n", "form",
                  "latency", "epoch 0", "later", "[least, most]", "steady", "network", "open",
                  "first", "trips", "ns/byte", "cores", "server", "requests", "flight");
    const auto run = [&](int latency_ms) {
      in_process([&] {
        stay_on(cores.client);
        run_loader(of, data, server, latency_ms, how);
      });
    };
    run(latency);
    if (how.local && latency == how.latencies.back()) run(-1);
    if (!how.peer.empty()) run_peer(data, server, cores, how);
    if (how.cache_share > 0 && data.is_one_array)
      run_caches(data, server,
                 {.share = how.cache_share,
                  .epochs = how.epochs,
                  .batch = how.batch,
                  .readers = how.readers,
                  .gpu = how.gpu,
                  .cores = cores.client,
                  .folder = how.cache_folder.empty() ? how.folder : how.cache_folder});
  }
  for (const std::string& each : data.files) fs::remove(folder / each);
}

std::string list_of(const std::vector<unsigned>& cores) {
  std::string text;
  for (const unsigned each : cores) text += (text.empty() ? "" : ",") + std::to_string(each);
  return text;
}

/// A folder in memory, if it has room.
fs::path default_folder(std::uint64_t bytes) {
  struct statvfs room {};
  const bool fits = ::statvfs("/dev/shm", &room) == 0 &&
                    static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize > bytes + bytes / 4;
  return (fits ? fs::path{"/dev/shm"} : fs::temp_directory_path()) /
         ("feedline-remote-" + std::to_string(::getpid()));
}

void run(settings how) {
  const shared_out cores{how.client_cores};
  raise_open_files();
  const bool is_own = how.folder.empty();
  if (is_own) how.folder = default_folder(how.data_mib << 20).string();
  fs::create_directories(how.folder);
  std::printf("machine:   %s; client on cores %s, server on %s; files in %s\n", processor().c_str(),
              list_of(cores.client).c_str(), list_of(cores.server).c_str(), how.folder.c_str());
  std::printf(
      "method:    HTTP on the loopback device; batches of %llu, %d readers, %s; windows of %llu "
      "MiB;"
      "\n           %d epochs, the first apart, of the others the median [least, most]; GB/s, ms\n",
      static_cast<unsigned long long>(how.batch), how.readers, how.gpu ? "GPU 0" : "host device",
      static_cast<unsigned long long>(how.window_mib), how.epochs);
  for (const form& each : all_forms())
    if (how.forms.empty() || std::ranges::count(how.forms, each.name) != 0)
      run_form(each, cores, how);
  if (is_own) fs::remove_all(how.folder);
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  std::vector<std::string> names;
  for (const form& each : all_forms()) names.push_back(each.name);
  test::command_line line{"Rows of a web server that is near or far"};
  line.add_option("--forms", how.forms, "some of them; all if it is not given").one_of(names);
  line.add_option("--latency", how.latencies, "milliseconds until an answer begins");
  line.add_option("--data-mib", how.data_mib, "MiB of rows of a form").positive();
  line.add_option("--window-mib", how.window_mib, "MiB of chunks that are mixed").positive();
  line.add_option("--batch", how.batch, "rows of a batch").positive();
  line.add_option("--readers", how.readers, "reader threads").positive();
  line.add_option("--epochs", how.epochs, "epochs of a run").positive();
  line.add_option("--client-cores", how.client_cores,
                  "cores of the client, if as many are left for the server; 0: not apart");
  line.add_option("--threads", how.threads, "remote_options::threads; 0: chosen");
  line.add_option("--max-in-flight", how.max_in_flight, "remote_options::max_in_flight").positive();
  line.add_option("--ahead", how.ahead_mib, "MiB of remote_options::read_ahead_bytes");
  line.add_option("--bare-seconds", how.bare_seconds, "time of each bare client; 0: none");
  line.add_option("--bare-connections", how.bare_connections, "of a bare client").positive();
  line.add_option("--folder", how.folder, "folder of the files; a new one in memory by default");
  line.add_option("--peer", how.peer, "command that is run with the address after each row");
  line.add_option("--cache", how.cache_share,
                  "with npy files, also print what the server sends to caches of this part of the "
                  "data, of all of it, and of 2 to 8 processes");
  line.add_option("--cache-folder", how.cache_folder,
                  "where caches are; with the files by default");
  line.add_flag("--gpu", how.gpu, "to GPU 0 instead of the host device");
  line.add_option("--request-kib", how.request_kib,
                  "expert_options::request_bytes, in KiB; 0: chosen");
  line.add_flag("--by-libcurl", how.by_libcurl, "remote_options::direct_connections = false");
  line.add_flag("--local", how.local, "also read the files as files of this machine");
  line.add_flag("--counts", how.counts, "print remote_counts() of each run");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  spdlog::set_level(spdlog::level::err);  // windows are fewer than batches want them
  try {
    run(how);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "feedline_bench_remote: %s\n", failure.what());
    return 1;
  }
  return 0;
}
