#include <feedline/statistics/statistics.hpp>

#include "support/checks/catch.hpp"

#include <chrono>
#include <string>

using namespace feedline;
using namespace std::chrono_literals;

namespace {

loader_statistics made() {
  loader_statistics statistics;
  statistics.time = 2s;
  statistics.reader = {.threads = 4,
                       .batches = 100,
                       .samples = 6400,
                       .bytes = 4'000'000'000,
                       .slots = 50,
                       .latency = 100ms,
                       .max_latency = 7ms,
                       .busy = 6s,
                       .starved = 1s,
                       .stalled = 500ms,
                       .copy_wait = 500ms};
  statistics.transfer = {.threads = 1,
                         .batches = 100,
                         .bytes = 4'000'000'000,
                         .slots = 50,
                         .busy = 500ms,
                         .starved = 1500ms};
  statistics.consumer = {.batches = 90, .samples = 5760, .busy = 1500ms, .starved = 500ms};
  statistics.exposed = 500ms;
  statistics.exposed_waits = 12;
  statistics.peak_copy_rate = 1.5e9;
  statistics.decoded = 40;
  statistics.cache_hits = 900;
  statistics.cache_misses = 300;
  statistics.cached_samples = 7;
  statistics.unreadable_samples = 3;
  statistics.copies = true;
  statistics.device_could_decode = true;
  return statistics;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("statistics: the difference of two snapshots covers the time between them",
          "[statistics][host]") {
  const loader_statistics earlier = made();
  loader_statistics later = made();
  later.time += 1s;
  later.reader.samples += 64;
  later.reader.busy += 3s;
  later.reader.max_latency = 9ms;
  later.exposed += 10ms;
  later.exposed_waits += 2;
  later.consumer.batches += 5;
  later.unreadable_samples += 1;
  later.decoded += 2;
  later.cache_hits += 30;
  later.cache_misses += 4;
  const loader_statistics part = later.since(earlier);
  CHECK(part.time == 1s);
  CHECK(part.reader.samples == 64);
  CHECK(part.reader.busy == 3s);
  CHECK(part.reader.starved == 0s);
  CHECK(part.reader.max_latency == 9ms);
  CHECK(part.reader.threads == 4);
  CHECK(part.exposed == 10ms);
  CHECK(part.exposed_waits == 2);
  CHECK(part.consumer.batches == 5);
  CHECK(part.unreadable_samples == 1);
  CHECK(part.decoded == 2);
  CHECK(part.cache_hits == 30);
  CHECK(part.cache_misses == 4);
  CHECK(part.peak_copy_rate == Approx(1.5e9));
  CHECK(part.copies);
}

TEST_CASE("statistics: a stage's time is the sum of its parts, and a slot's latency the mean",
          "[statistics][host]") {
  CHECK(made().reader.time() == 8s);
  CHECK(made().reader.mean_latency() == 2ms);
  CHECK(stage_statistics{}.mean_latency() == 0s);
}

TEST_CASE("statistics: their JSON has every number, with its unit, and the verdict",
          "[statistics][host]") {
  const std::string text = to_json(made());
  CHECK(text.front() == '{');
  CHECK(text.back() == '}');
  for (const char* member :
       {"\"time_ns\": 2000000000", "\"reader\": {\"threads\": 4, \"batches\": 100",
        "\"copy_wait_ns\": 500000000", "\"mean_latency_ns\": 2000000", "\"exposed_ns\": 500000000",
        "\"exposed_on_stream\": false", "\"peak_copy_rate\": 1.5e+09",
        "\"decoded\": 40, \"cache_hits\": 900, \"cache_misses\": 300", "\"unreadable_samples\": 3",
        "\"device_could_decode\": true", "\"verdict\": {\"limit\": \"", "\"gain\": 1.3"}) {
    INFO(member << " in " << text);
    CHECK(has(text, member));
  }
}

TEST_CASE("statistics: if a loader is tuned, JSON and report have its choice and the reason",
          "[statistics][host]") {
  CHECK(has(to_json(made()), "\"tuning\": {\"on\": false, "));
  CHECK_FALSE(has(report(made()), "tuning"));
  loader_statistics tuned = made();
  tuned.tuning = {.on = true,
                  .settled = false,
                  .readers = 4,
                  .max_readers = 16,
                  .staging_slots = 8,
                  .max_staging_slots = 12,
                  .searched_batches = 0,
                  .why = "a \"reason\""};
  CHECK(has(report(tuned),
            "tuning   4 of 16 readers, 8 of 12 staging slots, searching: a \"reason\"\n"));
  tuned.tuning.settled = true;
  tuned.tuning.searched_batches = 321;
  CHECK(has(report(tuned),
            "tuning   4 of 16 readers, 8 of 12 staging slots, settled after 321 batches: a "
            "\"reason\"\n"));
  CHECK(has(to_json(tuned),
            "\"tuning\": {\"on\": true, \"settled\": true, \"readers\": 4, \"max_readers\": 16, "
            "\"staging_slots\": 8, \"max_staging_slots\": 12, \"searched_batches\": 321, \"why\": "
            "\"a \\\"reason\\\"\"}"));
  CHECK(tuned.since(made()).tuning.readers == 4);
}

TEST_CASE("statistics: their report is a table of the stages, the exposed time and the verdict",
          "[statistics][host]") {
  const std::string text = report(made());
  INFO(text);
  CHECK(has(text,
            "stage    threads    batches     GB/s  busy % starved stalled copy wait   ms/slot"
            "       max\n"
            "reader         4        100    2.000   75.0    12.5     6.2       6.2      2.000     "
            "7.000\n"));
  CHECK(has(text, "exposed  500.000 ms in 12 waits, 25.0 % of the consumer's 2.000 s\n"));
  CHECK(has(text, "copies   1.5 GB/s at the most\n"));
  CHECK(has(text,
            "decoded  40 chunks or images; 75.0 % of 1200 rows were in memory, already decoded\n"));
  CHECK(has(text, "cached   7 of 6400 samples\n"));
  CHECK(has(text, "errors   3 samples not read, 0 reads recovered\n"));
  CHECK(has(text, "\nnext: "));
  CHECK(has(text, " (up to 1.33 times as fast)\n"));
}
