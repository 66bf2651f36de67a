/// Reads of several objects whose requests are in flight together.

#include <feedline/error.hpp>

#include "io/byte_file.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::byte_read;
using detail::open_file;

namespace {

constexpr std::size_t many = 3'000'000;

}  // namespace

TEST_CASE("remote objects: reads of several objects that were begun are in flight together",
          "[remote][host]") {
  const mounted_remote mounted;
  std::atomic<int> asked = 0;  // these outlive the server
  std::promise<void> all;
  const auto came = all.get_future().share();
  http_server server;
  const auto bytes = numbered(many);
  server.put("/a", bytes);
  server.put("/b", bytes);
  const auto a = open_file(server.address("/a"));
  const auto b = open_file(server.address("/b"));
  std::vector<std::vector<std::byte>> rows(5, std::vector<std::byte>(1000));
  std::vector<byte_read> of_a{{many - 2000, rows[0]}, {500'000, rows[1]}, {7, rows[2]}, {9, {}}};
  std::vector<byte_read> of_b{{many - 1000, rows[3]}, {1'000'000, rows[4]}};
  SECTION("all come") {
    // Each is answered once all were asked, except for bytes that came with the opening.
    server.set_script([&](const http_request&) {
      if (++asked == 4) all.set_value();
      came.wait();
      return http_fault{};
    });
    const auto first = a->begin_read(of_a);
    const auto second = b->begin_read(of_b);
    second->finish();
    first->finish();
    for (const auto& parts : {of_a, of_b})
      for (const byte_read& part : parts)
        CHECK(std::ranges::equal(part.out, std::span{bytes}.subspan(part.offset, part.out.size())));
    CHECK(asked == 4);
  }
  SECTION("one is deleted") {
    server.remove("/b");
    const auto first = a->begin_read(of_a);
    const auto second = b->begin_read(of_b);
    CHECK(contains(message_of<dataset_error>([&] { second->finish(); }), "/b: was deleted"));
    first->finish();
    CHECK(std::ranges::equal(rows[0], std::span{bytes}.last(2000).first(1000)));
  }
  SECTION("one is not finished") {
    (void)a->begin_read(of_a);  // its memory is not written to after this
    std::vector<byte_read> beyond{{many - 10, rows[3]}};
    CHECK_THROWS_AS((void)b->begin_read(beyond), dataset_error);
  }
}
