/// Files of every format that a web server has: the same samples come as from a disk.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/remote_formats.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("remote: files of every format give the samples that they give here", "[remote][host]") {
  const temporary_directory cache;
  remote_options options = patient_remote();
  const int kept = GENERATE(0, 1, 2);  // nothing, in a folder, in too little memory
  options.cache.block_bytes = 65536;
  if (kept == 1) options.cache.folder = cache.path();
  if (kept == 1) options.cache.folder_bytes = 100'000'000;
  if (kept == 2) options.cache.memory_bytes = 65536;
  const mounted_remote mounted{options};
  for (const stored_format& each : all_formats()) {
    CAPTURE(each.name);
    const temporary_directory folder;
    http_server server;
    const std::string path = each.write(folder);
    const dataset_ptr here = each.open(path);
    const dataset_ptr there = each.open(serve(server, folder, path));
    REQUIRE(here->size() == samples);
    CHECK(there->fields() == here->fields());
    const auto expected = all_samples(*here);
    for (const int readers : {0, 3}) {
      loader loader{there, shuffle{}, make_host_device(), {.batch_size = 8, .readers = readers}};
      CHECK(take_epoch(loader, here->fields(), expected) == all_but({}));
    }
  }
}

TEST_CASE(
    "remote: requests of every format that fail at times are made again, and no byte is wrong",
    "[remote][host]") {
  const mounted_remote mounted;
  for (const stored_format& each : all_formats()) {
    CAPTURE(each.name);
    const temporary_directory folder;
    std::mutex mutex;  // these outlive the server
    std::map<std::string, int> times;
    int number = 0;
    http_server server;
    const std::string path = each.write(folder);
    const std::string address = serve(server, folder, path);
    // Each request fails once, however threads take turns: an opening is given up after five times.
    server.set_script([&](const http_request& request) -> http_fault {
      const std::lock_guard lock{mutex};
      if (++times[request.path + ' ' + request.header("range")] % 2 == 0) return {};
      switch (++number % 3) {
        case 0:
          return http_fault::status(503);
        case 1:
          return {http_fault::kind::reset, {}, 100};
        default:
          return {http_fault::kind::cut, {}, 1};
      }
    });
    const dataset_ptr there = each.open(address);
    const auto expected = all_samples(*each.open(path));
    loader loader{there, shuffle{}, make_host_device(), {.batch_size = 8, .readers = 3}};
    CHECK(take_epoch(loader, there->fields(), expected) == all_but({}));
  }
}

TEST_CASE("remote: the guide's lines open an object", "[remote][host]") {
  http_server server;
  server.put("/a.npy", npy_rows());
  const std::string address = server.address("/a.npy");
  // [mount]
  mount_remote_files({.deadline = std::chrono::seconds{30}});  // `open` alone needs no call
  const dataset_ptr train = open(address);
  // [/mount]
  CHECK(train->size() == samples);
  mount_remote_files();
}

TEST_CASE("remote: the guide's lines make a cache", "[remote][host]") {
  const temporary_directory place;
  const std::string folder = place.path();
  // [cache]
  remote_options options;
  options.cache = {.folder = folder, .folder_bytes = std::uint64_t{1} << 40};
  mount_remote_files(options);  // before data sets are opened
  // [/cache]
  http_server server;
  server.put("/a.npy", npy_bytes(npy_dictionary("|u1", "(60, 3000)"), numbered(samples * 3000)));
  const dataset_ptr train = open(server.address("/a.npy"));
  const auto before = all_samples(*train);
  const auto bytes = remote_counts().bytes;
  CHECK(all_samples(*train) == before);
  CHECK(remote_counts().bytes == bytes);
  loader loader{train, shuffle{}, make_host_device(), {}};
  // [downloads]
  const download_plan plan = loader.plan_downloads();
  std::cout << to_string(plan) << '\n';
  // epoch 0 downloads 147.5 GB of 147.5 GB, each later one 110.6 GB, by a cache of 36.9 GB; with a
  // cache of 73.8 GB 73.7 GB, of 147.6 GB 0 B
  // [/downloads]
  CHECK(plan.epoch_bytes == 0);
  CHECK(plan.needed_bytes == samples * 3000);
  mount_remote_files();
}

TEST_CASE("remote: an object that changes in an epoch ends it with an error that names it",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto rows = [](int first) {
    auto bytes = numbered(samples * 3000 + static_cast<std::size_t>(first));
    bytes.erase(bytes.begin(), bytes.begin() + first);
    return npy_bytes(npy_dictionary("|u1", "(60, 3000)"), bytes);
  };
  server.put("/a.npy", rows(0), "\"v\"");
  const std::string address = server.address("/a.npy");
  const dataset_ptr there = open(address);
  server.put("/a.npy", rows(7), "\"w\"");
  loader loader{there, sequential{}, make_host_device(), {.batch_size = 4, .readers = 2}};
  auto batches = loader.epoch(0);
  const auto expected = numbered(samples * 3000);
  const std::string message = message_of<stage_error>([&] {
    while (auto batch = batches.next())
      for (std::size_t i = 0; i < batch->size(); ++i) {
        const auto row = (*batch)["a"].bytes().subspan(i * 3000, 3000);
        CHECK(std::ranges::equal(
            row, std::span{expected}.subspan(batch->samples()[i].value * 3000, 3000)));
      }
  });
  CHECK(contains(message, address + ": field 'a'"));
  CHECK(contains(message, "was written again since it was opened (412)"));
}

TEST_CASE("remote: a reader asks other machines for several rows at a time, and the plan says so",
          "[remote][host]") {
  const mounted_remote mounted;
  constexpr std::uint64_t rows = 256;
  constexpr std::uint64_t row_bytes = 150'000;
  const auto bytes = npy_bytes(npy_dictionary("|u1", "(256, 150000)"), numbered(rows * row_bytes));
  http_server server;
  server.put("/a.npy", bytes, "\"v\"");
  const temporary_directory folder;
  const auto written = [&](const char* name) { return open(folder.write(name, bytes).string()); };
  const dataset_ptr there = open(server.address("/a.npy"));
  const dataset_ptr here = written("a.npy");
  const auto plan_of = [](const dataset_ptr& rows_of, std::size_t request_bytes) {
    return loader{rows_of,
                  shuffle{},
                  make_host_device(),
                  {.batch_size = 256, .readers = 8, .expert = {.request_bytes = request_bytes}}}
        .plan();
  };
  const loader_plan far = plan_of(there, 0);
  CHECK(far.far_request_bytes == std::size_t{640} << 10);
  CHECK(far.request_samples == 4);
  CHECK(far.min_requests == 8);
  CHECK(contains(to_string(far), "0.6 MiB asked of other machines at a time"));
  // Some files are elsewhere, in any composition.
  CHECK(plan_of(concatenate({here, there}), 0).request_samples == 4);
  CHECK(plan_of(zip({written("b.npy"), there}), 0).far_request_bytes != 0);
  const loader_plan near = plan_of(here, 0);
  CHECK(near.far_request_bytes == 0);
  CHECK(near.request_samples == 3);
  CHECK(near.min_requests == 32);
  CHECK_FALSE(contains(to_string(near), "other machines"));
  const loader_plan chosen = plan_of(there, 300'000);
  CHECK(chosen.far_request_bytes == 0);
  CHECK(chosen.request_samples == 2);
}

TEST_CASE("remote: rows of a server that is far off are in flight in greater numbers",
          "[remote][host]") {
  const mounted_remote mounted;
  const auto epoch_from = [](std::chrono::milliseconds latency) {
    http_server server;
    constexpr std::uint64_t rows = 2000;
    server.put("/a.npy", npy_bytes(npy_dictionary("|u1", "(2000, 20000)"), numbered(rows * 20000)),
               "\"v\"");
    server.set_latency(latency);
    const dataset_ptr there = open(server.address("/a.npy"));
    loader loader{there, shuffle{}, make_host_device(), {.batch_size = 128, .readers = 2}};
    const auto expected = numbered(rows * 20000);
    bool right = true;
    for (batch& batch : loader.epoch(0))
      for (std::size_t i = 0; i < batch.size(); ++i)
        right = right && std::ranges::equal(
                             batch["a"].bytes().subspan(i * 20000, 20000),
                             std::span{expected}.subspan(batch.samples()[i].value * 20000, 20000));
    CHECK(right);
    CHECK(loader.statistics().network_wait > 0ns);
    CHECK(loader.statistics().network_wait <= loader.statistics().reader.busy);
    return server.most_at_once();
  };
  // 16 are allowed at least, and after servers that are near. A busy machine's server takes longer
  // than its latency, so it is tried from farther off, too.
  int most = 0;
  for (const auto latency : {50ms, 200ms, 800ms}) {
    most = std::max(most, epoch_from(latency));
    if (most > 30) break;
  }
  CHECK(most > 30);
}

TEST_CASE("remote: objects that are lost are skipped by the error policy, after their deadline",
          "[remote][host]") {
  const log_capture unheard;
  const mounted_remote mounted{{.deadline = 60s, .stall_after = 50s, .second_requests = false}};
  // A pause beyond the deadline is not waited for.
  const auto lost = http_fault::status(503, "Retry-After: 3600\r\n");  // outlives the server
  http_server server;
  server.put("/a.npy", npy_bytes(npy_dictionary("|u1", "(60, 3000)"), numbered(samples * 3000)));
  const dataset_ptr there = open(server.address("/a.npy"));
  server.set_script([&](const http_request& request) {
    return request.range()->second >= 100'000 ? lost : http_fault{};
  });
  loader loader{there,
                sequential{},
                make_host_device(),
                {.batch_size = 4,
                 .readers = 2,
                 .errors = {.action = error_action::skip, .retries = 0, .max_share = 1}}};
  std::uint64_t came = 0;
  for (batch& batch : loader.epoch(0)) came += batch.size();
  CHECK(came > 0);
  CHECK(came < samples);
  CHECK(loader.failures().count == samples - came);
}
