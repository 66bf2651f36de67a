/// Requests that are in flight together.

#include "support/http/round_trips.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "io/byte_file.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t row_bytes = 150'000;

}  // namespace

TEST_CASE("remote: connections are kept while few requests are made", "[remote][host]") {
  const mounted_remote mounted;
  constexpr std::size_t count = 60;
  round_trips rounds{50ms};
  std::atomic<bool> holds = true;
  http_server server;
  server.put("/x", numbered(count * 200'000));
  const auto file = detail::open_file(server.address("/x"));
  server.set_script([&](const http_request&) {
    if (holds) rounds.hold();  // so that each has a connection of its own
    return http_fault{};
  });
  std::vector<std::vector<std::byte>> rows(count, std::vector<std::byte>(10));
  std::vector<detail::byte_read> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back({i * 200'000 + 100'000, rows[i]});
  file->read(parts);
  const auto before = server.connections();
  if (before < count) {
    WARN("the tests before have left a limit of requests; run this one alone");
    return;
  }
  holds = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)  // backwards: it is no walk
    file->read(part->offset, part->out);
  holds = true;
  file->read(parts);
  CAPTURE(before);
  CHECK(server.connections() <= before + count / 4);  // threads do not share theirs
}

TEST_CASE("remote: members of several shards are read together", "[remote][host]") {
  const mounted_remote mounted;
  std::atomic<int> asked = 0;  // these outlive the server
  std::promise<void> all;
  const auto came = all.get_future().share();
  http_server server;
  std::vector<std::vector<std::byte>> rows;
  for (int shard = 0; shard < 4; ++shard) {
    tar_bytes archive;
    for (int i = 0; i < 10; ++i) {
      rows.push_back(numbered(row_bytes));
      rows.back()[0] = static_cast<std::byte>(rows.size());
      archive.add(std::to_string(i) + ".x.npy",
                  npy_bytes(npy_dictionary("|u1", "(150000,)"), rows.back()));
    }
    server.put("/" + std::to_string(shard) + ".tar", archive.ended());
  }
  const dataset_ptr data = open(server.address("/{0..3}.tar"));
  // The walks through the shards keep their ends for a while. Each request is answered once all
  // were asked: the two members of the first shard that follow each other are one, and the one that
  // is wanted twice is a second.
  server.set_script([&](const http_request&) {
    if (++asked == 5) all.set_value();
    came.wait();
    return http_fault{};
  });
  const std::vector<sample_index> samples{{0}, {20}, {1}, {10}, {30}, {0}};
  std::vector<std::byte> out(samples.size() * row_bytes);
  const std::span<std::byte> field{out};
  data->read(samples, {&field, 1});
  for (std::size_t i = 0; i < samples.size(); ++i)
    CHECK(std::ranges::equal(field.subspan(i * row_bytes, row_bytes), rows[samples[i].value]));

  SECTION("a shard that is gone is named") {
    server.remove("/2.tar");
    CHECK(contains(message_of<dataset_error>([&] { data->read(samples, {&field, 1}); }), "/2.tar"));
    try {
      data->read(samples, {&field, 1});
    } catch (const dataset_error& lost) {
      CHECK(lost.where().sample == 20);
      CHECK(lost.where().field == "x");
    }
  }
}
