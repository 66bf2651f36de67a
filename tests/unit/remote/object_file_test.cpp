#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/records.hpp>

#include "io/file_system.hpp"
#include "io/range_source.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::byte_read;
using detail::open_file;

namespace {

constexpr std::size_t many = std::size_t{3} << 20;

bool is_part(const std::vector<std::byte>& out, const std::vector<std::byte>& of,
             std::size_t begin) {
  return std::ranges::equal(out, std::span{of}.subspan(begin, out.size()));
}

}  // namespace

TEST_CASE("remote objects: any range of an object is read, by one request each", "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  CHECK(file->size() == many);
  CHECK(file->name() == server.address("/x"));
  CHECK(file->local_path().empty());
  CHECK(file->mapped().empty());
  CHECK(file->is_cold());
  CHECK(server.take_requests().size() == 1);
  std::vector<std::byte> head(1000);
  file->read(50, head);
  CHECK(is_part(head, bytes, 50));
  CHECK(server.take_requests().empty());  // it came with the opening

  std::vector<std::byte> far(100'000);
  file->read(2'000'000, far);
  CHECK(is_part(far, bytes, 2'000'000));
  const auto made = server.take_requests();
  REQUIRE(made.size() == 1);
  CHECK(made[0].header("range") == "bytes=2000000-2099999");
  CHECK(made[0].header("if-match") ==
        "\"v" + file->version().substr(file->version().find('v') + 1));
  CHECK(made[0].header("if-range").empty());
  file->require_unchanged();

  std::vector<std::byte> last(1);
  file->read(many - 1, last);
  CHECK(last[0] == bytes.back());
  CHECK(contains(message_of<dataset_error>([&] { file->read(many, last); }),
                 "there are no 1 bytes here"));
}

TEST_CASE("remote objects: parts of a read are in flight at once, and near ones are one request",
          "[remote][host]") {
  const mounted_remote mounted;
  std::atomic<int> asked = 0;  // these outlive the server
  std::promise<void> all;
  const auto came = all.get_future().share();
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  (void)server.take_requests();
  std::vector<std::vector<std::byte>> rows(8, std::vector<std::byte>(1000));
  std::vector<byte_read> parts;
  for (std::size_t i = 0; i < rows.size(); ++i)
    parts.push_back({many - (i + 1) * 300'000, rows[i]});
  SECTION("far ones") {
    // Each is answered once all were asked.
    server.set_script([&](const http_request&) {
      if (++asked == 8) all.set_value();
      came.wait();
      return http_fault{};
    });
    file->read(parts);
    CHECK(server.most_at_once() >= 8);
  }
  SECTION("near ones") {
    for (std::size_t i = 0; i < rows.size(); ++i) parts[i].offset = 1'000'000 + i * 100'000;
    file->read(parts);
    CHECK(server.take_requests().size() == 1);
  }
  for (const byte_read& part : parts)
    CHECK(std::ranges::equal(part.out, std::span{bytes}.subspan(part.offset, part.out.size())));
}

TEST_CASE("remote objects: a large read is several requests, which are in flight at once",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(20 << 20);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  (void)server.take_requests();
  std::vector<std::byte> out(bytes.size());
  file->read(0, out);
  CHECK(out == bytes);
  CHECK(server.take_requests().size() == 3);
}

TEST_CASE("remote objects: empty and small ones, and those that are not there", "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  server.put("/empty", {});
  server.put("/small", numbered(10));
  CHECK(open_file(server.address("/empty"))->size() == 0);
  CHECK(open_file(server.address("/small"))->size() == 10);
  CHECK(detail::kind_of_entry(server.address("/small")) == detail::entry_kind::file);
  CHECK(detail::kind_of_entry(server.address("/none")) == detail::entry_kind::nothing);
  CHECK(message_of<dataset_error>([&] { (void)open_file(server.address("/none")); }) ==
        server.address("/none") +
            ": cannot be opened: the server answers 404 Scripted: there is no such object; check "
            "the address");
  CHECK(
      contains(message_of<dataset_error>([&] { (void)detail::match_files(server.address("/*")); }),
               "web servers have no lists of files; name each file"));
}

TEST_CASE("remote objects: empty ones are opened though the refusal of their range has words",
          "[remote][host]") {
  const mounted_remote mounted;
  const auto open_refused = [](const std::string& headers, const std::string& body) {
    http_server server;
    server.set_script([&](const auto&) { return http_fault::status(416, headers, body); });
    return open_file(server.address("/x"))->size();
  };
  const std::string words = "<html>416 Requested Range Not Satisfiable</html>";
  CHECK(open_refused("Content-Range: bytes */0\r\n", words) == 0);
  CHECK(open_refused("Content-Range: bytes */0\r\n", std::string(100'000, 'x')) == 0);
  CHECK(open_refused({},
                     "<Error><Code>InvalidRange</Code><ActualObjectSize>0</ActualObjectSize>"
                     "</Error>") == 0);
  CHECK(contains(message_of<dataset_error>([&] { (void)open_refused({}, words); }),
                 "the server answers 416"));
}

TEST_CASE("remote objects: a dataset is opened by one request, and its connection is kept",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(6000);
  server.put("/r.bin", bytes);
  const auto rows = open_records({server.address("/r.bin")}, {{"x", element_type::u8, {60}}});
  CHECK(rows->size() == 100);
  CHECK(server.take_requests().size() == 1);
  server.put("/s.bin", bytes);
  (void)open_file(server.address("/s.bin"));
  CHECK(server.connections() == 1);
}

TEST_CASE("remote objects: mounting again forgets what was opened", "[remote][host]") {
  http_server server;
  server.put("/x", numbered(1000));
  const mounted_remote mounted;
  CHECK(open_file(server.address("/x"))->size() == 1000);
  server.put("/x", numbered(2000));
  const mounted_remote again;
  CHECK(open_file(server.address("/x"))->size() == 2000);
  std::vector<std::byte> whole;
  const auto read = detail::file_system_of(server.address("/x"))
                        ->read_whole(server.address("/x"), [&](std::size_t bytes) {
                          whole.resize(bytes);
                          return std::span{whole};
                        });
  CHECK(read.bytes.size() == 2000);
  CHECK(is_part(whole, numbered(2000), 0));
}

TEST_CASE("remote objects: small reads that go forward take few requests", "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  std::vector<std::byte> out(512);
  for (std::size_t at = 0; at + out.size() <= many; at += 10'000) {
    file->read(at, out);
    REQUIRE(is_part(out, bytes, at));
  }
  CHECK(server.take_requests().size() <= 8);
}

TEST_CASE("remote objects: hinted bytes are fetched once, before they are read, and then dropped",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  server.set_latency(5ms);
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  (void)server.take_requests();
  std::vector<detail::byte_range> ranges{{1'000'000, 1'150'000}, {2'000'000, 2'150'000}};
  file->will_need(ranges);
  file->will_need(1'000'000, 150'000);  // on its way already
  std::vector<std::byte> out(150'000);
  for (const std::size_t begin : {std::size_t{2'000'000}, std::size_t{1'000'000}}) {
    file->read(begin, out);
    CHECK(is_part(out, bytes, begin));
  }
  CHECK(server.take_requests().size() == 2);
  file->read(1'000'000, out);  // once more: asked for again
  CHECK(is_part(out, bytes, 1'000'000));
  CHECK(server.take_requests().size() == 1);

  SECTION("a read over several hinted ranges, and one over a gap between them") {
    file->will_need(500'000, 1000);
    file->will_need(400'000, 100'000);
    file->read(450'000, std::span{out}.first(50'500));
    CHECK(is_part({out.begin(), out.begin() + 50'500}, bytes, 450'000));
    CHECK(server.take_requests().size() == 2);
    file->read(450'000, out);
    CHECK(is_part(out, bytes, 450'000));
  }
  SECTION("unread bytes are counted") {
    const auto before = remote_counts().bytes_unused;
    mounted_remote{};  // forgets what was opened lately
    auto other = open_file(server.address("/x"));
    other->will_need(2'500'000, 150'000);
    other.reset();
    mounted_remote{};
    CHECK(remote_counts().bytes_unused == before + 150'000);
  }
}

TEST_CASE("remote objects: bytes of an object that has gone are not requested again",
          "[remote][host]") {
  const mounted_remote mounted;
  std::promise<void> asked;  // these outlive the server
  std::promise<void> gone;
  const auto is_gone = gone.get_future().share();
  std::atomic<int> requests = 0;
  http_server server;
  server.set_latency(5ms);
  server.put("/x", numbered(many));
  auto file = open_file(server.address("/x"));
  server.set_script([&](const auto&) {
    if (++requests == 1) {
      asked.set_value();
      is_gone.wait();
    }
    return http_fault::status(503);
  });
  file->will_need(1'000'000, 150'000);
  asked.get_future().wait();
  const auto before = remote_counts();
  mounted_remote{};  // forgets what was opened lately
  file.reset();
  mounted_remote{};
  gone.set_value();
  while (remote_counts().throttled == before.throttled) std::this_thread::yield();
  CHECK(remote_counts().retries == before.retries);
  CHECK(remote_counts().failed == before.failed);
  CHECK(requests == 1);
}

TEST_CASE("remote objects: without room for read-ahead, hints are dropped and reads still work",
          "[remote][host]") {
  const mounted_remote mounted{{.read_ahead_bytes = 0}};
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  (void)server.take_requests();
  file->will_need(1'000'000, 150'000);
  std::vector<std::byte> out(150'000);
  file->read(1'000'000, out);
  CHECK(is_part(out, bytes, 1'000'000));
  CHECK(server.take_requests().size() == 1);
}

TEST_CASE("remote objects: hints about objects of a server that is near are dropped",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  file->will_need(1'000'000, 150'000);
  std::vector<std::byte> out(300'000);
  file->read(900'000, out);
  CHECK(is_part(out, bytes, 900'000));
  CHECK(server.take_requests().size() <= 3);  // the opening, and unless it lagged the read alone
}

TEST_CASE("remote objects: a child of fork reads them, too", "[remote][host]") {
  if (sanitized) {  // the server has threads, and one may allocate at the moment of the fork
    WARN(
        "skipped: ThreadSanitizer starts no thread in a child of fork, and AddressSanitizer does "
        "not free its allocator's locks there");
    return;
  }
  const mounted_remote mounted;
  http_server server;
  const auto bytes = numbered(many);
  server.put("/x", bytes);
  const auto file = open_file(server.address("/x"));
  std::vector<std::byte> out(150'000);
  file->read(1'000'000, out);
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<std::byte> other(150'000);
    file->read(2'000'000, other);
    ::_exit(is_part(other, bytes, 2'000'000) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("remote objects: options that are out of range are refused", "[remote][host]") {
  CHECK(message_of<usage_error>([] { mount_remote_files({.deadline = 0ms}); }) ==
        "mount_remote_files: remote_options::deadline is 0 ms; it is 1 ms to 24 hours");
  CHECK(contains(message_of<usage_error>(
                     [] { mount_remote_files({.deadline = std::chrono::milliseconds::max()}); }),
                 "it is 1 ms to 24 hours"));
  CHECK(contains(message_of<usage_error>([] { mount_remote_files({.stall_after = 0ms}); }),
                 "stall_after is 0 ms"));
  CHECK(contains(message_of<usage_error>([] { mount_remote_files({.max_in_flight = 0}); }),
                 "max_in_flight is 0; it is 1 to 16384"));
  CHECK(contains(message_of<usage_error>([] { mount_remote_files({.threads = 65}); }),
                 "threads is 65; it is 0 to 64"));
}
