/// Servers and networks that fail: each request is made again, or the read is an error that says
/// why. No wrong byte comes.

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::open_file;
using kind = http_fault::kind;

namespace {

constexpr std::size_t size = std::size_t{1} << 20;
constexpr std::uint64_t place = 500'000;
constexpr std::size_t count = 50'000;

/// An object that is open, at a server that then fails.
struct opened_object {
  /// Reads a range.
  void read() const { file->read(place, out); }
  [[nodiscard]] bool is_right() const {
    return std::ranges::equal(out, std::span{bytes}.subspan(place, count));
  }
  /// The next requests fail. @param times 0: all do.
  void fail(const http_fault& fault, int times = 0) {
    (void)server.take_requests();
    server.set_script([fault, times, made = std::make_shared<std::atomic<int>>(0)](const auto&) {
      return times == 0 || ++*made <= times ? fault : http_fault{};
    });
  }
  /// The words of the error of a read that fails.
  [[nodiscard]] std::string refusal() const {
    return message_of<dataset_error>([this] { read(); });
  }

  http_server server;
  std::vector<std::byte> bytes = numbered(size);
  detail::byte_file_ptr file = [this] {
    server.put("/x", bytes, "\"v\"");
    return open_file(server.address("/x"));
  }();
  mutable std::vector<std::byte> out = std::vector<std::byte>(count);
};

std::uint64_t counted(const std::string& of, const remote_statistics& counts) {
  if (of == "throttled") return counts.throttled;
  if (of == "server errors") return counts.server_errors;
  if (of == "resets") return counts.resets;
  if (of == "stalls") return counts.stalls;
  if (of == "wrong lengths") return counts.wrong_lengths;
  if (of == "ignored ranges") return counts.ignored_ranges;
  return counts.garbage;
}

struct scripted {
  std::string counter;
  http_fault fault;
  std::uint64_t counted_of_two = 2;
};

std::vector<scripted> passing_faults() {
  return {
      {"throttled", http_fault::status(503)},
      {"throttled", http_fault::status(429, "Retry-After: 0\r\n")},
      {"server errors", http_fault::status(500)},
      {"server errors", http_fault::status(502)},
      {"server errors", http_fault::status(408)},
      {"resets", {kind::reset, {}, 0}},
      {"resets", {kind::reset, {}, 20'000}},
      {"resets", {kind::close}, 1},  // libcurl takes the first one for an old connection's end
      {"wrong lengths", {kind::cut, {}, 20'000}},
      {"stalls", {kind::stall, {}, 0}},
      {"stalls", {kind::stall, {}, 20'000}},
      {"ignored ranges", {kind::ignore_range}},
      {"garbage", {kind::longer}},
      {"garbage", {kind::other_range}},
      {"garbage", {kind::answer, std::string("\0\1garbage\r\n\r\n", 13)}},
      {"garbage", {kind::headers, "ETag: \"v\"\r\nContent-Length: 5\r\n"}},
      {"garbage", {kind::headers, "ETag: \"v\"\r\nContent-Length: x\r\n"}},
  };
}

}  // namespace

TEST_CASE("remote faults: each is counted and tried again, and the right bytes come",
          "[remote][host]") {
  for (const scripted& each : passing_faults()) {
    CAPTURE(each.counter, each.fault.text, static_cast<int>(each.fault.does), each.fault.bytes);
    const bool stalls = each.counter == "stalls";
    const mounted_remote mounted{stalls ? stalling_remote() : patient_remote()};
    opened_object object;
    object.fail(each.fault, 2);
    const auto before = remote_counts();
    object.read();
    CHECK(object.is_right());
    const auto count = counted(each.counter, remote_counts()) - counted(each.counter, before);
    CHECK(count >= each.counted_of_two);
    CHECK((stalls || count == each.counted_of_two));  // a busy machine's server may stall, too
    CHECK(remote_counts().failed == before.failed);
  }
}

TEST_CASE("remote faults: each that lasts is an error with the address, the byte and the reason",
          "[remote][host]") {
  const std::vector<std::pair<http_fault, std::string>> lasting{
      {http_fault::status(503, {}, "<Code>SlowDown</Code><Message>Please.</Message>"),
       "the server answers 503 Scripted (SlowDown: Please.); tried "},
      {http_fault::status(403),
       "403 Scripted: it gives no access; check the address, the "
       "credentials, and whether these have expired"},
      {http_fault::status(418), "the server answers 418 Scripted"},
      {{kind::reset, {}, 0}, "the connection broke: "},
      {{kind::cut, {}, 20'000}, "the server sends 20000 bytes, and fewer than it says; tried "},
      {{kind::stall, {}, 20'000}, "no byte came for 500 ms; tried "},
      {{kind::ignore_range},
       "sends the whole object (status 200) where a range was asked for "
       "(206); serve it from one that serves ranges, as nginx, Apache and "
       "object stores do, or copy the file to a local disk; tried 3 times"},
      {{kind::other_range}, "sends bytes 500001 to 550001 where 500000 to 550000 were asked for"},
      {{kind::headers, "ETag: \"v\"\r\nContent-Encoding: gzip\r\nContent-Length: 50000\r\n"},
       "the object is sent encoded (Content-Encoding: gzip)"},
      {http_fault::status(302, "Location: ftp://other.invalid/x\r\n"),
       "redirects to an address that is not followed"},
      {http_fault::status(302, "Location: /x\r\n"), "redirects more than 5 times"},
  };
  for (const auto& [fault, words] : lasting) {
    CAPTURE(words);
    const bool stalls = fault.does == kind::stall;
    remote_options options = stalls ? stalling_remote() : patient_remote();
    // These are tried until then; the others, a few times.
    const bool is_patient = stalls || fault.does == kind::reset || fault.does == kind::cut ||
                            contains(fault.text, " 503 ");
    if (is_patient) options.deadline = 3s;
    const mounted_remote mounted{options};
    opened_object object;
    object.fail(fault);
    const std::string message = object.refusal();
    CAPTURE(message);
    CHECK(contains(message, object.server.address("/x") + ": byte 500000: cannot be read: "));
    CHECK(contains(message, words));
  }
}

TEST_CASE("remote faults: an object that changed or went is an error that names it, at once",
          "[remote][host]") {
  const mounted_remote mounted;
  opened_object object;
  (void)object.server.take_requests();
  SECTION("written again") {
    object.server.put("/x", numbered(size), "\"w\"");
    CHECK(object.refusal() == object.server.address("/x") +
                                  ": was written again since it was opened (412); open it again, "
                                  "and keep objects unchanged while they are read");
  }
  SECTION("by a server that ignores If-Match") {
    object.fail({kind::headers, "ETag: \"w\"\r\nContent-Length: 50000\r\n"});
    CHECK(contains(object.refusal(), "has the ETag \"w\" now, and had \"v\" when it was opened"));
  }
  SECTION("deleted") {
    object.server.remove("/x");
    CHECK(contains(object.refusal(), "was deleted since it was opened (404 Scripted)"));
  }
  CHECK(object.server.take_requests().size() == 1);
  object.server.set_script({});
  object.server.put("/x", numbered(10), "\"z\"");
  CHECK(open_file(object.server.address("/x"))->size() == 10);  // not the one before
}

TEST_CASE("remote faults: an answer that comes byte by byte ends at the deadline",
          "[remote][host]") {
  const mounted_remote mounted{{.deadline = 2s, .stall_after = 50s}};
  opened_object object;
  object.fail({kind::drip, {}, 100});
  CHECK(contains(object.refusal(), "the answer is not whole within the deadline of 2000 ms"));
}

TEST_CASE("remote faults: after a stall comes a new connection while others are idle",
          "[remote][host]") {
  const mounted_remote mounted{
      {.deadline = 60s, .stall_after = 1s, .second_requests = false, .direct_connections = false}};
  std::atomic<int> asked = 0;  // outlives the server
  opened_object object;
  std::vector<std::byte> other(1000);
  std::vector<detail::byte_read> both{{100'000, other}, {place, object.out}};
  object.server.set_script([&](const auto&) {
    ++asked;
    while (asked < 2) std::this_thread::yield();  // so both are asked at once: two connections
    return http_fault{};
  });
  object.file->read(both);
  object.fail({kind::stall}, 1);
  const auto before = object.server.connections();
  object.read();
  CHECK(object.is_right());
  CHECK(object.server.connections() == before + 1);
}

TEST_CASE("remote faults: headers that do not end are garbage", "[remote][host]") {
  const mounted_remote mounted;
  std::string headers = "ETag: \"v\"\r\nContent-Length: 50000\r\n";
  for (int i = 0; i < 300; ++i) headers += "X: " + std::string(1000, 'x') + "\r\n";
  opened_object object;
  object.fail({kind::headers, headers});
  CHECK(contains(object.refusal(), "the server's headers do not end; tried 3 times"));
}

TEST_CASE("remote faults: a pause is as long as the server asks for", "[remote][host]") {
  const mounted_remote mounted;
  opened_object object;
  object.fail(http_fault::status(503, "Retry-After: 1\r\n"), 1);
  const auto begun = std::chrono::steady_clock::now();
  object.read();
  CHECK(object.is_right());
  CHECK(std::chrono::steady_clock::now() - begun >= 1s);
}

TEST_CASE("remote faults: a pause beyond the deadline is not waited for", "[remote][host]") {
  const mounted_remote mounted;
  opened_object object;
  object.fail(http_fault::status(503, "Retry-After: 3600\r\n"));
  CHECK(contains(object.refusal(), "the server answers 503"));
  CHECK(object.server.take_requests().size() == 1);
}

TEST_CASE("remote faults: a server that is not there is told after few tries", "[remote][host]") {
  const mounted_remote mounted;
  std::string address;
  {
    const http_server server;
    address = server.address("/x");
  }
  CHECK(contains(message_of<dataset_error>([&] { (void)open_file(address); }),
                 address + ": cannot be opened: the server cannot be reached: "));
  CHECK(contains(message_of<dataset_error>([&] { (void)open_file("http://nowhere.invalid/x"); }),
                 "the server cannot be reached: "));
  CHECK(contains(message_of<dataset_error>([&] { (void)open_file("http://"); }),
                 "http://: cannot be opened: the address is not valid"));
}

TEST_CASE("remote faults: redirects are followed, and credentials do not go to another server",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server other;
  http_server server;
  other.put("/y", numbered(size), "\"v\"");
  server.set_script([&](const auto&) {
    return http_fault::status(302, "Location: " + other.address("/y") + "\r\n");
  });
  const std::string address =
      "http://user:word@127.0.0.1:" + std::to_string(server.port()) + "/x?signature=abc";
  const auto file = open_file(address);
  CHECK(file->size() == size);
  const auto first = server.take_requests();
  REQUIRE(first.size() == 1);
  CHECK(first[0].path == "/x?signature=abc");
  CHECK(contains(first[0].header("authorization"), "Basic "));
  const auto then = other.take_requests();
  REQUIRE(then.size() == 1);
  CHECK(then[0].header("authorization").empty());

  other.remove("/y");
  std::vector<std::byte> out(100);
  const std::string shown = message_of<dataset_error>([&] { file->read(place, out); });
  CHECK(contains(shown, "http://...@127.0.0.1:" + std::to_string(server.port()) + "/x?...: was "));
  CHECK_FALSE(contains(shown, "word"));
  CHECK_FALSE(contains(shown, "abc"));
}

TEST_CASE(
    "remote faults: a server without tags or dates serves, and a size that differs is a change",
    "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  server.put("/x", numbered(size), "");
  const auto file = open_file(server.address("/x"));
  std::vector<std::byte> out(100);
  file->read(place, out);
  server.put("/x", numbered(size + 1), "");
  CHECK(contains(message_of<dataset_error>([&] { file->read(size - 100, out); }),
                 "has 1048577 bytes now, and had 1048576 when it was opened"));
}

TEST_CASE("remote faults: at random, by many readers, no byte is wrong", "[remote][host]") {
  const std::size_t row = GENERATE(10'000U, 60'000U);  // direct connections read the larger ones
  const mounted_remote mounted;
  std::vector<scripted> faults = passing_faults();  // they outlive the server
  std::erase_if(faults, [](const auto& each) {
    return each.counter == "stalls" || each.counter == "garbage" ||
           each.counter == "ignored ranges";  // the last two are given up after three
  });
  std::atomic<unsigned> next = 0;
  http_server server;
  const auto bytes = numbered(size);
  server.put("/x", bytes, "\"v\"");
  const auto file = open_file(server.address("/x"));
  server.set_script([&](const auto&) {
    const unsigned number = next++;
    return number % 3 == 0 ? faults[number / 3 % faults.size()].fault : http_fault{};
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (unsigned reader = 0; reader < 4; ++reader)
    readers.emplace_back([&, reader] {
      std::minstd_rand random{reader + 1};
      std::vector<std::byte> out(row);
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t at = 70'000 + random() % (size - 70'000 - out.size());
        if (i % 2 == 0) file->will_need(at, out.size());
        file->read(at, out);
        if (!std::ranges::equal(out, std::span{bytes}.subspan(at, out.size()))) ++wrong;
      }
    });
  for (std::thread& each : readers) each.join();
  CHECK(wrong == 0);
}

TEST_CASE("remote faults: the log tells once why a server is left to libcurl", "[remote][host]") {
  const mounted_remote mounted{patient_remote()};
  opened_object object;
  object.read();
  object.fail(http_fault::status(403));
  const log_capture logged;
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(object.read(), dataset_error);
  CHECK(logged.lines() == 1);
  CHECK(contains(logged.text(), "http://127.0.0.1:" + std::to_string(object.server.port()) +
                                    ": an answer with status 403"));
}
