/// Connections of feedline's own, by which bytes are received straight to where they are needed.

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "remote/byte_pool.hpp"
#include "remote/direct/connections.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"
#include "unit/remote/played_server.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::direct_address;
using detail::direct_connections;
using detail::direct_servers;
using outcome = detail::direct_connections::outcome;

namespace {

/// Wants some bytes, of which it drops those between two parts.
struct asker final : detail::direct_receiver {
  [[nodiscard]] next take_head(std::string_view text) override {
    if (lacks_memory) throw std::bad_alloc{};
    head = text;
    return then;
  }
  [[nodiscard]] std::uint64_t left() const noexcept override { return wanted - got; }
  [[nodiscard]] room next_room() noexcept override {
    if (got >= gap_begin && got < gap_end) return {nullptr, gap_end - got};
    return {bytes.data() + got, (got < gap_begin ? gap_begin : wanted) - got};
  }
  void came(std::size_t more) noexcept override { got += more; }
  void sends() noexcept override { ++sent; }

  std::size_t wanted = 10;
  std::size_t gap_begin = 4;
  std::size_t gap_end = 7;
  std::vector<std::byte> bytes = std::vector<std::byte>(100'000, std::byte{'-'});
  std::size_t got = 0;
  std::string head;
  next then = next::body;
  bool lacks_memory = false;
  int sent = 0;

  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(bytes.data()), wanted};
  }
};

/// The thread's side: waits for one event after the other.
class played_client {
 public:
  explicit played_client(const played_server& server)
      : url{"http://127.0.0.1:" + std::to_string(server.port()) + "/x"} {
    servers.add(address().server, "127.0.0.1", server.port());
  }
  played_client(const played_client&) = delete;
  played_client& operator=(const played_client&) = delete;
  ~played_client() {
    all.clear();
    ::close(epoll);
  }

  [[nodiscard]] direct_address address() const { return *direct_address::of(url); }
  [[nodiscard]] std::optional<int> begin(asker& by) {
    return all.begin(address(), "GET /x HTTP/1.1\r\n\r\n", by);
  }
  /// The server has accepted: what could not be sent before is sent now.
  void connected(std::optional<int> socket) {
    REQUIRE(socket);
    REQUIRE(all.on_event(*socket));
  }
  /// Handles one event. @return False: none came.
  bool step() {
    epoll_event event{};
    if (::epoll_wait(epoll, &event, 1, 2000) != 1) return false;
    REQUIRE(all.on_event(event.data.fd));
    return true;
  }
  /// @return How the request ended.
  [[nodiscard]] std::optional<outcome> run() {
    for (;;) {
      if (const auto ended = all.next_ended()) return ended->how;
      if (!step()) return {};
    }
  }

  int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  detail::direct_servers servers;
  detail::connection_room room;
  direct_connections all{epoll, servers, room};
  std::string url;
};

constexpr std::string_view good = "HTTP/1.1 206 Some\r\nContent-Length: 10\r\n\r\n";

}  // namespace

TEST_CASE("direct connections: addresses that need libcurl are left to it", "[remote][host]") {
  const auto is_direct = [](const char* url) { return direct_address::of(url).has_value(); };
  CHECK(is_direct("http://host/x"));
  CHECK(is_direct("http://[::1]:80/x?a=b%20c"));
  for (const char* url : {"https://host/x", "http://user:word@host/x", "http://host", "http:///x",
                          "http://host/x#y", "http://host/a b", "http://h\xc3\xb6st/x",
                          "http://host?x/", "s3://bucket/x", "http://ho%73t/x"})
    CHECK_FALSE(is_direct(url));
  const auto found = *direct_address::of("http://host:81/a/b?c");
  CHECK(found.server == "http://host:81");
  CHECK(found.host == "host:81");
  CHECK(found.path == "/a/b?c");
}

TEST_CASE("direct connections: bytes land where they are wanted, however they come",
          "[remote][host]") {
  played_server server;
  played_client client{server};
  asker by;
  const auto socket = client.begin(by);
  server.accept();
  client.connected(socket);
  CHECK(server.take_request() == "GET /x HTTP/1.1\r\n\r\n");
  SECTION("in one piece") {
    server.send(std::string{good} + "0123456789");
    CHECK(client.run() == outcome::whole);
  }
  SECTION("byte by byte") {
    for (const char each : std::string{good} + "0123456789") {
      server.send({&each, 1});
      REQUIRE(client.step());
    }
    CHECK(client.run() == outcome::whole);
  }
  CHECK(by.head == "HTTP/1.1 206 Some\r\nContent-Length: 10");
  CHECK(by.text() == "0123---789");
  client.all.end(*socket);

  asker again;
  again.bytes[4] = std::byte{'?'};
  CHECK(client.all.has_idle(client.address().server));
  CHECK(client.begin(again) == socket);  // the connection was kept
  (void)server.take_request();
  server.send(std::string{good} + "abcd");
  REQUIRE(client.step());
  server.send("efghij");
  CHECK(client.run() == outcome::whole);
  CHECK(again.text() == "abcd?--hij");

  client.all.end(*socket);
  CHECK(client.room.open() == 1);
  client.all.close_idle();
  CHECK(client.room.open() == 0);
  CHECK_FALSE(client.all.has_idle(client.address().server));
}

TEST_CASE("direct connections: an answer that is not plain, or not whole, is told as what it is",
          "[remote][host]") {
  played_server server;
  played_client client{server};
  asker by;
  const auto socket = client.begin(by);
  server.accept();
  client.connected(socket);
  (void)server.take_request();
  const auto after = [&](const std::string& text) {
    server.send(text);
    server.close();
    return client.run();
  };
  bool is_refused = false;
  SECTION("a status for one object") {
    by.then = asker::next::unfit;
    CHECK(after("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") == outcome::unfit);
    is_refused = true;
  }
  SECTION("chunks") {
    CHECK(after("HTTP/1.1 206 x\r\nTRANSFER-Encoding: chunked\r\n\r\n") == outcome::unfit);
    is_refused = true;
  }
  SECTION("an older protocol") {
    CHECK(after("HTTP/1.0 206 x\r\nContent-Length: 10\r\n\r\n0123456789") == outcome::unfit);
    is_refused = true;
  }
  SECTION("a head that does not end") {
    CHECK(after("HTTP/1.1 206 x\r\nA: " + std::string(40'000, 'a')) == outcome::unfit);
    is_refused = true;
  }
  SECTION("one that the asker refuses") {
    by.then = asker::next::fault;
    CHECK(after(std::string{good} + "0123456789") == outcome::judged);
  }
  SECTION("no HTTP") {
    CHECK(after("\1\2\3") == outcome::no_http);
  }
  SECTION("nothing") {
    CHECK(after({}) == outcome::no_answer);
  }
  SECTION("half a head") {
    CHECK(after("HTTP/1.1 206") == outcome::broke);
  }
  SECTION("half a body") {
    CHECK(after(std::string{good} + "01234") == outcome::ended_early);
  }
  client.all.end(*socket);
  const std::string_view known = client.address().server;
  CHECK(client.servers.find(known).has_value() != is_refused);
  CHECK(client.servers.find(known, direct_servers::clock::now() + std::chrono::minutes{2}));
  CHECK_FALSE(client.servers.refuse("http://unknown"));
  CHECK(client.servers.refuse(known) != is_refused);
  CHECK_FALSE(client.servers.refuse(known));
}

TEST_CASE("direct connections: what no request asked for is not taken for an answer",
          "[remote][host]") {
  played_server server;
  played_client client{server};
  asker by;
  const auto socket = client.begin(by);
  server.accept();
  client.connected(socket);
  (void)server.take_request();
  bool comes_later = false;
  SECTION("bytes after the answer") {
    server.send(std::string{good} + "0123456789" + std::string{good} + "xxxxxxxxxx");
  }
  SECTION("bytes that come later") {
    server.send(std::string{good} + "0123456789");
    comes_later = true;
  }
  SECTION("an answer that ends the connection") {
    server.send("HTTP/1.1 206 x\r\nConnection: Close\r\n\r\n0123456789");
  }
  CHECK(client.run() == outcome::whole);
  client.all.end(*socket);
  if (comes_later) server.send(std::string{good} + "xxxxxxxxxx");
  CHECK(by.text() == "0123---789");

  asker again;
  const auto other = client.begin(again);
  server.close();
  server.accept();  // it is a new connection
  client.connected(other);
  (void)server.take_request();
  server.send(std::string{good} + "abcdefghij");
  CHECK(client.run() == outcome::whole);
  CHECK(again.text() == "abcd---hij");
}

TEST_CASE("direct connections: a request without memory ends alone", "[remote][host]") {
  played_server server;
  played_client client{server};
  asker other;
  const auto first = client.begin(other);
  server.accept();
  client.connected(first);
  (void)server.take_request();
  played_server::connection kept = server.keep();

  asker by;
  by.lacks_memory = true;
  const auto socket = client.begin(by);
  server.accept();
  client.connected(socket);
  (void)server.take_request();
  server.send(std::string{good} + "0123456789");
  CHECK(client.run() == outcome::no_memory);
  client.all.end(*socket);

  kept.send(std::string{good} + "abcdefghij");
  CHECK(client.run() == outcome::whole);
  CHECK(other.text() == "abcd---hij");
}

TEST_CASE("direct connections: a server that accepts no more connections is libcurl's to reach",
          "[remote][host]") {
  played_server server{0};
  played_client client{server};
  std::vector<std::unique_ptr<asker>> waiting;
  // Those that the system accepts for the server connect, although it does not take them.
  for (int i = 0; i < 10 && client.servers.find(client.address().server); ++i) {
    const auto socket = client.begin(*waiting.emplace_back(std::make_unique<asker>()));
    REQUIRE(socket);
    REQUIRE(client.all.on_event(*socket));
    client.all.end(*socket);
  }
  CHECK_FALSE(client.servers.find(client.address().server));
}

TEST_CASE("direct connections: a server that has gone is libcurl's to find", "[remote][host]") {
  played_server server;
  played_client client{server};
  server.stop();
  asker by;
  if (const auto socket = client.begin(by)) {
    CHECK(client.run() == outcome::unreachable);
    client.all.end(*socket);
  }
  CHECK_FALSE(client.servers.find(client.address().server));
  CHECK_FALSE(client.begin(by));
}

TEST_CASE("remote objects: large parts come by connections of their own, unless that is forbidden",
          "[remote][host]") {
  const bool is_direct = GENERATE(true, false);
  remote_options options = patient_remote();
  options.direct_connections = is_direct;
  const mounted_remote mounted{options};
  http_server server;
  const auto bytes = numbered(std::size_t{1} << 20);
  server.put("/x", bytes, "\"v\"");
  const auto file = detail::open_file(server.address("/x"));
  std::vector<std::byte> out(100'000);
  for (const std::uint64_t at : {500'000U, 400'000U, 800'000U}) {
    file->read(at, out);
    CHECK(std::ranges::equal(out, std::span{bytes}.subspan(at, out.size())));
  }
  CHECK(server.connections() == (is_direct ? 2 : 1));
  // Parts with a gap are one request.
  std::vector<std::byte> other(50'000);
  std::vector<detail::byte_read> parts{{200'000, out}, {350'000, other}};
  (void)server.take_requests();
  file->read(parts);
  const auto asked = server.take_requests();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].header("range") == "bytes=200000-399999");
  CHECK(asked[0].header("if-match") == "\"v\"");
  CHECK(asked[0].header("host") == "127.0.0.1:" + std::to_string(server.port()));
  CHECK(asked[0].header("user-agent").starts_with("feedline/"));
  CHECK(std::ranges::equal(out, std::span{bytes}.subspan(200'000, out.size())));
  CHECK(std::ranges::equal(other, std::span{bytes}.subspan(350'000, other.size())));
}

TEST_CASE("byte pool: memory is used again, apart from other memory, and goes when it is much",
          "[remote][host]") {
  detail::byte_pool pool;
  std::vector<detail::byte_pool::memory> all;
  std::set<std::byte*> places;
  constexpr std::size_t block = 150'000;
  for (int i = 0; i < 2000; ++i) {
    all.push_back(pool.get(block));
    std::memset(all.back().get(), i % 256, block);
    places.insert(all.back().get());
  }
  REQUIRE(places.size() == 2000);
  std::vector<std::byte> expected(block);
  for (int i = 0; i < 2000; ++i) {
    std::memset(expected.data(), i % 256, block);
    REQUIRE(std::memcmp(all[static_cast<std::size_t>(i)].get(), expected.data(), block) == 0);
  }
  const std::size_t most = pool.bytes();
  CHECK(most < 2000 * block * 5 / 4);
  std::byte* const last = all.back().get();
  all.pop_back();
  all.push_back(pool.get(block - 100));
  CHECK(all.back().get() == last);
  CHECK(pool.bytes() == most);
  all.clear();
  CHECK(pool.bytes() <= most / 2 + (std::size_t{32} << 20));
  CHECK(pool.bytes() >= most / 4);
  const auto large = pool.get(std::uint64_t{9} << 20);
  CHECK(large.get() != nullptr);
}
