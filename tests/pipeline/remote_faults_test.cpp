/// Scripted faults over all formats: each is tried again or told, and no byte is wrong. There are
/// 400, or as many as the variable FEEDLINE_REMOTE_FAULTS says.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/remote_formats.hpp"
#include "remote/direct/servers.hpp"
#include "support/checks/log_capture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using kind = http_fault::kind;

namespace {

/// Faults of every kind that a server or a network may show.
http_fault any_fault(std::uint64_t number) {
  static const std::array<http_fault, 14> faults{{
      http_fault::status(503),
      http_fault::status(429, "Retry-After: 0\r\n"),
      http_fault::status(500),
      http_fault::status(502),
      http_fault::status(408),
      {kind::reset, {}, 0},
      {kind::reset, {}, 150},
      {kind::close},
      {kind::cut, {}, 1},
      {kind::stall, {}, 20},
      {kind::ignore_range},
      {kind::longer},
      {kind::other_range},
      {kind::answer, "garbage\r\n\r\n"},
  }};
  return faults[number % faults.size()];
}

std::uint64_t wanted_faults() {
  const char* const given = std::getenv("FEEDLINE_REMOTE_FAULTS");
  return given == nullptr ? 400 : std::strtoull(given, nullptr, 10);
}

}  // namespace

TEST_CASE("remote: scripted faults over all formats give no wrong byte and no hang",
          "[remote][host]") {
  const log_capture unheard;
  const mounted_remote mounted{{.deadline = 30s, .stall_after = 100ms}};
  const std::uint64_t wanted = wanted_faults();
  std::atomic<std::uint64_t> faults = 0;  // these outlive the servers
  std::atomic<std::uint64_t> requests = 0;
  std::uint64_t told = 0;
  std::uint64_t right = 0;
  std::uint64_t runs = 0;
  const auto before = remote_counts();
  for (std::uint64_t round = 0; faults < wanted; ++round)
    for (const stored_format& each : all_formats()) {
      CAPTURE(each.name, round);
      const temporary_directory folder;
      http_server server;
      // Samples are small; in turn, connections of feedline's own ask for them.
      if ((runs++ + round) % 2 == 1) detail::direct_servers::set_least_bytes(1);
      const std::string path = each.write(folder);
      const std::string address = serve(server, folder, path);
      const auto expected = all_samples(*each.open(path));
      const dataset_ptr there = each.open(address);
      server.set_script([&](const http_request&) {
        const std::uint64_t number = ++requests;
        if ((number * 2654435761U >> 7U) % 3 != 0) return http_fault{};
        return any_fault(faults++);
      });
      loader loader{there,
                    shuffle{round},
                    make_host_device(),
                    {.batch_size = 8,
                     .readers = 3,
                     .errors = {.action = error_action::skip, .retries = 2, .max_share = 1}}};
      for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
        for (batch& batch : loader.epoch(epoch))
          for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::uint64_t sample = batch.samples()[i].value;
            bool same = true;
            for (std::size_t f = 0; f < there->fields().size(); ++f) {
              const std::size_t bytes = sample_bytes(there->fields()[f]);
              same = same && std::ranges::equal(batch.field_at(f).bytes().subspan(i * bytes, bytes),
                                                expected[sample][f]);
            }
            REQUIRE(same);
            ++right;
          }
      told += loader.failures().count;
      detail::direct_servers::set_least_bytes(detail::direct_servers::usual_least);
    }
  const auto after = remote_counts();
  WARN(faults << " faults of " << requests << " requests: " << right
              << " samples right, none wrong, " << told << " told; "
              << after.retries - before.retries << " requests made again; so far in this process "
              << to_string(after));
  CHECK(after.retries > before.retries);
}
