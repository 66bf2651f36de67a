#include <feedline/statistics/statistics.hpp>

#include "support/checks/catch.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace feedline;
using namespace std::chrono_literals;

namespace {

/// A part of a second.
std::chrono::nanoseconds part(double share) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(1e9 * share)};
}

/// A second of a loop that waits for nothing: 4 readers of 16 cores, samples of 100 KB, 1 GB of
/// them; copies reach 50 GB/s.
loader_statistics healthy() {
  loader_statistics made;
  made.time = 1s;
  made.reader = {.threads = 4,
                 .batches = 100,
                 .samples = 10'000,
                 .bytes = 1'000'000'000,
                 .slots = 100,
                 .busy = 4 * part(0.1),
                 .stalled = 4 * part(0.9)};
  made.transfer = {.threads = 1,
                   .batches = 100,
                   .samples = 10'000,
                   .bytes = 1'000'000'000,
                   .slots = 100,
                   .busy = part(0.01),
                   .starved = part(0.99)};
  made.consumer = {
      .batches = 100, .samples = 10'000, .bytes = 1'000'000'000, .slots = 100, .busy = 1s};
  made.sampled_reading = part(0.1);
  made.sampled_cpu = part(0.1);
  made.queue_known = true;
  made.peak_copy_rate = 50e9;
  made.cores = 16;
  made.sample_bytes = 100'000;
  made.copies = true;
  return made;
}

void expose(loader_statistics& of, double share) {
  of.exposed = part(share);
  of.exposed_on_stream = true;
}

/// How the readers spend their second, each.
void readers_are(loader_statistics& of, double busy, double starved, double stalled) {
  of.reader.busy = of.reader.threads * part(busy);
  of.reader.starved = of.reader.threads * part(starved);
  of.reader.stalled = of.reader.threads * part(stalled);
}

/// Sets the shares of a read that compute, and that wait for a core.
void reads_are(loader_statistics& of, double cpu, double queued) {
  of.sampled_reading = 1s;
  of.sampled_cpu = part(cpu);
  of.sampled_queue = part(queued);
}

/// Half of the time is exposed, and readers are busy without end.
loader_statistics slow_readers(double cpu, double queued = 0) {
  loader_statistics made = healthy();
  expose(made, 0.5);
  readers_are(made, 0.97, 0.02, 0.01);
  reads_are(made, cpu, queued);
  made.reader.samples = 1000;
  made.reader.bytes = 100'000'000;
  return made;
}

struct constructed_case {
  std::string name;
  std::function<loader_statistics()> make;
  bottleneck limit;
  std::string next;  ///< words of it; empty: nothing is to be changed
};

loader_statistics changed(loader_statistics made,
                          const std::function<void(loader_statistics&)>& change) {
  change(made);
  return made;
}

std::vector<constructed_case> constructed_cases() {
  return {
      {"slow consumer", healthy, bottleneck::consumer, "make the consumer's step faster"},
      {"slow consumer, whose host waits for its stream's work",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           of.consumer.busy = part(0.1);
           of.consumer.starved = part(0.9);
           expose(of, 0.01);
         });
       },
       bottleneck::consumer, "make the consumer's step faster"},
      {"slow consumer that reads in place",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           of.copies = false;
           of.peak_copy_rate = 0;
         });
       },
       bottleneck::consumer, "make the consumer's step faster"},
      {"readers just fast enough",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           readers_are(of, 0.9, 0.05, 0.05);
           expose(of, 0.02);
         });
       },
       bottleneck::balanced, ""},
      {"a bus that is just fast enough",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           of.transfer.bytes = 47'500'000'000;
           expose(of, 0.03);
         });
       },
       bottleneck::balanced, ""},
      {"slow storage", [] { return slow_readers(0.03); }, bottleneck::storage, "more readers (8)"},
      {"a page cache that is cold", [] { return slow_readers(0.35); }, bottleneck::storage,
       "more readers"},
      {"a network",
       [] {
         auto seen = slow_readers(0.35);
         seen.network_wait = seen.reader.busy * 9 / 10;
         return seen;
       },
       bottleneck::storage, "more in flight, if remote_counts() is at its limits"},
      {"a network that a larger cache would spare",
       [] {
         auto seen = slow_readers(0.35);
         seen.network_wait = seen.reader.busy * 9 / 10;
         seen.downloads = {.is_known = true,
                           .needed_bytes = 16'000'000'000,
                           .epoch_bytes = 16'000'000'000,
                           .later_bytes = 12'000'000'000,
                           .cache_bytes = 4'000'000'000,
                           .larger_cache = 8'000'000'000,
                           .later_with_larger = 8'000'000'000,
                           .whole_cache = 16'100'000'000,
                           .later_with_whole = 0};
         return seen;
       },
       bottleneck::storage,
       "a larger cache (remote_options::cache): each later epoch downloads 0 B with 16.1 GB, "
       "or 8.0 GB with 8.0 GB; or more in flight"},
      {"slow storage of chunks",
       [] { return changed(slow_readers(0.1), [](loader_statistics& of) { of.chunked = true; }); },
       bottleneck::storage, "an order that follows chunks"},
      {"slow decoding, cores to spare", [] { return slow_readers(0.98); }, bottleneck::decode,
       "more readers: 8 of 16 cores"},
      {"slow decoding on all cores",
       [] { return changed(slow_readers(0.98), [](loader_statistics& of) { of.cores = 4; }); },
       bottleneck::decode, "less work for each sample"},
      {"a compressed file on few cores",
       [] {
         return changed(slow_readers(0.48, 0.5), [](loader_statistics& of) {
           of.cores = 2;
           of.chunked = true;
         });
       },
       bottleneck::decode, "an order that follows chunks"},
      {"a compressed file on a device that decodes such",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.chunked = of.device_could_decode = true;
           of.decoded = 100;
         });
       },
       bottleneck::decode,
       "decode_on::device, so that the device decodes these blocks, in an order that follows"},
      {"a queue that is empty",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.live = true;
           std::swap(of.reader.busy, of.reader.starved);
         });
       },
       bottleneck::reader, "put samples faster"},
      {"images on a device that decodes such",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.device_could_decode = true;
           of.decoded = 1000;
         });
       },
       bottleneck::decode, "decode_on::device, so that the device decodes these blocks; "},
      {"a compressed file whose chunks lie in memory by now",
       [] {
         return changed(slow_readers(0.98),
                        [](loader_statistics& of) { of.chunked = of.device_could_decode = true; });
       },
       bottleneck::decode, "more readers: 8 of 16 cores"},
      {"a control group's quota",
       [] {
         return changed(slow_readers(0.24, 0.74),
                        [](loader_statistics& of) { of.cores = of.quota_cores = 1; });
       },
       bottleneck::decode, "a larger quota"},
      {"a control group's quota of more cores than readers use",
       [] {
         return changed(slow_readers(0.98),
                        [](loader_statistics& of) { of.cores = of.quota_cores = 4; });
       },
       bottleneck::decode, "less work for each sample"},
      {"cores that others use", [] { return slow_readers(0.3, 0.65); }, bottleneck::decode,
       "cores that other work leaves alone"},
      {"more readers than cores, where the system does not tell who waits for a core",
       [] {
         return changed(slow_readers(0.25), [](loader_statistics& of) {
           of.queue_known = false;
           of.cores = 1;
         });
       },
       bottleneck::decode, "less work for each sample"},
      {"gathering with too few readers",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.reader.bytes = 30'000'000'000;
           of.reader.samples = 300'000;
         });
       },
       bottleneck::reader, "more readers: 8 of 16 cores"},
      {"gathering of tiny samples on all cores",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.reader.bytes = 400'000'000;
           of.reader.samples = 100'000'000;
           of.cores = 4;
         });
       },
       bottleneck::reader, "placement::resident"},
      {"no readers",
       [] {
         return changed(slow_readers(0.98), [](loader_statistics& of) {
           of.reader.threads = of.transfer.threads = 0;
           of.reader.busy = part(0.5);
           of.reader.starved = of.reader.stalled = 0s;
         });
       },
       bottleneck::decode, "more readers: 2 of 16 cores"},
      {"slow copy",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.6);
           readers_are(of, 0.3, 0, 0.1);
           of.reader.copy_wait = 4 * part(0.6);
           of.transfer.bytes = 12'000'000'000;
           of.peak_copy_rate = 12.2e9;
         });
       },
       bottleneck::copy, "narrower type"},
      {"slow copy of an unknown rate",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.7);
           readers_are(of, 0.2, 0, 0.8);
           of.peak_copy_rate = 0;
         });
       },
       bottleneck::copy, "narrower type"},
      {"slow work on the device after the copies",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.6);
           readers_are(of, 0.1, 0, 0.9);
         });
       },
       bottleneck::copy, "less work after the copies"},
      {"small slots",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.4);
           readers_are(of, 0.2, 0.3, 0.5);
           of.transfer.busy = part(0.95);
           of.transfer.starved = part(0.05);
           of.transfer.slots = 300'000;
         });
       },
       bottleneck::copy, "larger slots"},
      {"decoding that is slower than a slow copy",
       [] {
         return changed(slow_readers(0.98),
                        [](loader_statistics& of) { of.transfer.bytes = 40'000'000'000; });
       },
       bottleneck::decode, "more readers"},
      {"a CPU budget",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.5);
           readers_are(of, 0.25, 0.7, 0.05);
           of.cpu_budget = 1;
         });
       },
       bottleneck::reader, "raise the CPU budget"},
      {"epochs that are not read ahead",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           expose(of, 0.3);
           readers_are(of, 0.25, 0.7, 0.05);
         });
       },
       bottleneck::reader, "loader_options::epochs"},
      {"batches that are held in every slot",
       [] {
         return changed(healthy(), [](loader_statistics& of) {
           of.consumer.busy = part(0.6);
           of.consumer.stalled = part(0.4);
           expose(of, 0.4);
         });
       },
       bottleneck::consumer, "end batches sooner"},
      {"nothing taken yet", [] { return loader_statistics{}; }, bottleneck::unknown, ""},
  };
}

}  // namespace

TEST_CASE("verdict: names the limit of a loop, and the one thing to change", "[statistics][host]") {
  const auto cases = constructed_cases();
  CHECK(cases.size() >= 20);
  for (const constructed_case& each : cases) {
    const loader_verdict verdict = judge(each.make());
    INFO(each.name << ": " << to_string(verdict.limit) << ", " << verdict.evidence
                   << "; next: " << verdict.next);
    CHECK(to_string(verdict.limit) == to_string(each.limit));
    if (each.next.empty()) {
      CHECK(verdict.next.empty());
    } else {
      CHECK(verdict.next.find(each.next) != std::string::npos);
    }
    CHECK_FALSE(verdict.evidence.empty());
  }
}

TEST_CASE("verdict: the gain is limited by the exposed time", "[statistics][host]") {
  CHECK(judge(healthy()).gain == Approx(1));
  CHECK(judge(slow_readers(0.03)).gain == Approx(2));
  auto slow_storage = slow_readers(0.03);
  expose(slow_storage, 0.9);  // twice the readers, so at most twice as fast
  CHECK(judge(slow_storage).gain == Approx(2));
  auto few_cores = slow_readers(0.98);
  expose(few_cores, 0.9);
  few_cores.cores = 8;  // twice the readers
  CHECK(judge(few_cores).gain == Approx(2));
}

TEST_CASE("verdict: no gain is given for a loop that only waits, unless cores limit it",
          "[statistics][host]") {
  auto no_step = changed(slow_readers(0.98), [](loader_statistics& of) { of.cores = 4; });
  expose(no_step, 1);
  CHECK(judge(no_step).gain == Approx(1));
  CHECK_FALSE(judge(no_step).next.empty());
  CHECK(report(no_step).find("times as fast") == std::string::npos);
  no_step.cores = 16;  // for 4 readers
  CHECK(judge(no_step).gain == Approx(4));
  CHECK(judge(no_step).next == "more readers: 16 of 16 cores");
}

TEST_CASE("verdict: its evidence has the numbers that it goes by", "[statistics][host]") {
  CHECK(judge(slow_readers(0.03)).evidence ==
        "the consumer waits for data 50 % of its time; 4 readers are busy 97 % of the time: a read "
        "spends 3 % computing, 0 % waiting for a core, 97 % waiting for data");
}

TEST_CASE("verdict: readers that the loader tunes are not advised, but by its budget",
          "[statistics][host]") {
  loader_statistics seen = slow_readers(0.03);
  seen.tuning = {.on = true, .settled = false, .readers = 4, .max_readers = 16};
  CHECK(judge(seen).next ==
        "time: the loader is trying up to 16 readers; look again once statistics().tuning.settled");
  seen.tuning.settled = true;
  CHECK(judge(seen).next.find("more readers (32 by expert.tuning.max_readers)") == 0);
}
