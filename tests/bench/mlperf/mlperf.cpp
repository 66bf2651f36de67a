/// feedline_bench_mlperf: the trainings of MLPerf Storage with feedline's loader in place of the
/// benchmark's own. It needs no GPU and no MPI: accelerators are threads that sleep.
///
///     feedline_bench_mlperf [--workload unet3d,resnet50] [--accelerator h100] [--accelerators 2]
///                           [--find] [--data-mib 2048] [--serve] [--decode] [--gpu]
///
/// Method: the data of a workload is made in a folder, in the benchmark's form, and so is in the
/// page cache. A step takes a batch, sleeps for the published time of computation and meets the
/// other accelerators at a barrier. The utilisation (AU) is the time of computing over the time of
/// the run, both without the first step, as the benchmark's rules define it; a run counts if it is
/// at least the workload's threshold. `--find` looks for the largest number of accelerators with
/// which a run counts: it doubles the number until a run fails, and bisects. GB/s are of stored
/// bytes. "cores" is the CPU time of this process per second.
///
/// Results are not comparable with published ones: the rules ask for data of five times the
/// memory, storage that the data is read from, and their own program.

#include <feedline/error.hpp>

#include "bench/mlperf/accelerators.hpp"
#include "bench/mlperf/data.hpp"
#include "bench/mlperf/serve.hpp"
#include "bench/mlperf/workload.hpp"
#include "bench/processor.hpp"
#include "support/command_line.hpp"
#include "support/files/temporary_directory.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <sched.h>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct settings {
  std::vector<std::string> models{"unet3d", "resnet50", "cosmoflow"};
  std::string accelerator = "h100";
  int accelerators = 1;
  bool finds = false;
  int most = 1024;
  int readers = 1;
  std::uint64_t request_kib = 0;
  std::string policy = "other";
  double seconds = 10;
  std::uint64_t steps = 0;
  std::uint64_t data_mib = 2048;
  double scale = 1;
  std::string folder;
  std::string address;
  bool serves = false;
  bool decodes = false;
  bool gpu = false;
  bool bare = false;
  bool parts = false;
};

int cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  (void)::sched_getaffinity(0, sizeof(allowed), &allowed);
  return CPU_COUNT(&allowed);
}

thread_policy policy_of(const std::string& name) {
  if (name == "other") return thread_policy::other;
  if (name == "batch") return thread_policy::batch;
  if (name == "idle") return thread_policy::idle;
  throw usage_error{"--policy is other, batch or idle, not " + name};
}

/// Data of one workload, opened.
struct opened {
  workload of;
  made_data made = {};
  dataset_ptr data = {};
  double bytes_per_sample = 0;
};

measured run(const opened& in, const settings& how, int accelerators) {
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(how.seconds / in.of.computation_seconds));
  const emulation emulated{
      .accelerators = accelerators,
      .readers = how.readers,
      .policy = policy_of(how.policy),
      .steps = how.steps != 0 ? how.steps : std::max(wanted, std::uint64_t{10}),
      .request_bytes = how.request_kib << 10U,
      .takes_batches = !how.bare,
      .on_gpu = how.gpu,
      .decodes_on_gpu = how.gpu && in.of.form == sample_form::jpeg,
      .chunk_window = in.of.form == sample_form::parquet ? std::uint64_t{4} : std::uint64_t{0}};
  const measured result = emulate(in.of, in.data, emulated);
  std::printf("| %s, %s | %d | %.1f %% | %.1f | %.3f | %.2f | %s |\n",
              std::string{in.of.model}.c_str(), std::string{in.of.accelerator}.c_str(),
              accelerators, 100 * result.utilisation, result.samples_per_second,
              result.samples_per_second * in.bytes_per_sample / 1e9, result.cores,
              result.utilisation >= in.of.threshold ? "counts" : "too slow");
  if (how.parts)
    std::printf("longest of a step, ms: start %.2f, batch %.2f, on the GPU %.2f, compute + %.2f\n",
                1e3 * result.parts.start, 1e3 * result.parts.batch, 1e3 * result.parts.stream,
                1e3 * result.parts.compute);
  std::fflush(stdout);
  return result;
}

/// @return The largest number of accelerators with which a run counts; 0: none does.
int find_most(const opened& in, const settings& how) {
  const auto counts = [&](int accelerators) {
    return run(in, how, accelerators).utilisation >= in.of.threshold;
  };
  int good = 0;
  int bad = 1;
  while (bad <= how.most && counts(bad)) {
    good = bad;
    bad *= 2;
  }
  bad = std::min(bad, how.most + 1);
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    (counts(middle) ? good : bad) = middle;
  }
  return good;
}

void measure(const workload& of, const settings& how, const std::filesystem::path& folder) {
  const double samples = std::max(static_cast<double>(how.data_mib) * 1024 * 1024 / of.record_bytes,
                                  2.0 * static_cast<double>(of.batch_size));
  opened in{.of = of, .made = make_data(of, static_cast<std::uint64_t>(samples), folder)};
  in.bytes_per_sample = static_cast<double>(in.made.bytes) / static_cast<double>(in.made.samples);
  std::optional<file_server> server;
  std::string root = folder.string();
  if (how.serves) {
    server.emplace(folder);
    root = server->address();
  } else if (!how.address.empty()) {
    mount_addresses();
    root = how.address + "/" + std::string{of.model};
  }
  in.data = open_data(of, in.made, root);
  if (!how.finds) {
    (void)run(in, how, how.accelerators);
    return;
  }
  const int most = find_most(in, how);
  std::printf("%s, %s: at most %d accelerators with a utilisation of %.0f %%\n",
              std::string{of.model}.c_str(), std::string{of.accelerator}.c_str(), most,
              100 * of.threshold);
}

void print_method(const settings& how) {
  std::printf("machine: %s, %d cores%s\n", processor().c_str(), cores(),
              how.gpu ? ", batches copied to GPU 0" : ", no GPU used: batches stay in host memory");
  std::printf(
      "method: samples in the page cache, %s; %d reader%s an accelerator (-1: chosen); steps for "
      "%g "
      "s or %llu; first step left out\n",
      how.serves            ? "read by HTTP from a process of this machine"
      : how.address.empty() ? "read from files"
                            : ("read from " + how.address).c_str(),
      how.readers, how.readers == 1 ? "" : "s", how.seconds,
      static_cast<unsigned long long>(how.steps));
  if (how.bare) std::printf("steps take no batch: the limit of this machine\n");
  if (how.scale != 1)
    std::printf("samples and times of computation are %g of the published ones\n", how.scale);
  std::printf(
      "| workload | accelerators | AU | samples/s | GB/s | cores | verdict |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n");
}

void measure_all(const settings& how) {
  print_method(how);
  const test::temporary_directory own;
  for (const std::string& model : how.models) {
    workload of = scaled(find_workload(model, how.accelerator), how.scale);
    if (how.decodes && of.form == sample_form::bytes) of.form = sample_form::jpeg;
    const std::filesystem::path folder =
        (how.folder.empty() ? own.path() : std::filesystem::path{how.folder}) / model;
#ifndef FEEDLINE_HAS_PARQUET
    if (of.form == sample_form::parquet) {
      std::printf("[feedline skip] %s: built without Arrow, which Parquet needs\n", model.c_str());
      continue;
    }
#endif
    measure(of, how, folder);
    if (how.folder.empty()) std::filesystem::remove_all(folder);
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  test::command_line line{"The trainings of MLPerf Storage, emulated"};
  line.add_option("--workload", how.models,
                  "of unet3d, resnet50, cosmoflow, retinanet, flux, dlrm");
  line.add_option("--accelerator", how.accelerator,
                  "the emulated one: a100, h100, or of later rounds b200, mi355");
  line.add_option("--accelerators", how.accelerators, "number of them").between(1, 4096);
  line.add_flag("--find", how.finds, "find the largest number of accelerators");
  line.add_option("--most", how.most, "accelerators that --find tries").between(1, 4096);
  line.add_option("--readers", how.readers, "reader threads of an accelerator; -1: chosen")
      .between(-1, 64);
  line.add_option("--request-kib", how.request_kib,
                  "that a reader reads at a time, at most a batch; 0: the loader chooses");
  line.add_option("--policy", how.policy,
                  "by which the system schedules loaders' threads: other, batch, idle");
  line.add_option("--seconds", how.seconds, "of computing in a run").positive();
  line.add_option("--steps", how.steps, "of a run; 0: as --seconds says, at least 10");
  line.add_option("--data-mib", how.data_mib, "of each workload, at least two batches").positive();
  line.add_option("--scale", how.scale, "factor of a sample's size and of the time of computation")
      .positive();
  line.add_option("--folder", how.folder, "keep the data there, and use what is there");
  line.add_option("--address", how.address,
                  "read the data of --folder by this address, http://HOST:PORT/PATH");
  line.add_flag("--serve", how.serves, "read by HTTP, from a process that serves the data");
  line.add_flag("--decode", how.decodes,
                "retinanet's files are images, and are decoded, which the benchmark does not ask");
  line.add_flag("--gpu", how.gpu, "copy batches to GPU 0, and decode images there");
  line.add_flag("--bare", how.bare,
                "steps take no batch: the utilisation that the machine's clock and cores allow");
  line.add_flag("--parts", how.parts, "print where steps spend time beside computing");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  spdlog::set_level(spdlog::level::warn);
  try {
    if (!how.address.empty() && how.folder.empty())
      throw usage_error{"--address reads the data of --folder, which is not given"};
    measure_all(how);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "feedline_bench_mlperf: %s\n", failure.what());
    return 1;
  }
}
