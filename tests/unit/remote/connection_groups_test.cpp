/// Sockets in epoll: those that libcurl waits for, and none that is closed.

#include "remote/request/connection_groups.hpp"

#include "support/checks/catch.hpp"
#include "support/http/server.hpp"
#include "unit/remote/replaced_calls.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <curl/curl.h>

using namespace feedline::detail;
using namespace feedline::test;

namespace {

struct easy_end {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};

std::size_t drop(const char*, std::size_t, std::size_t bytes, void*) {
  return bytes;
}

/// A thread's epoll and connections, driven by hand.
struct driven {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  connection_room room;
  connection_groups groups{epoll, room};

  driven() = default;
  driven(const driven&) = delete;
  driven& operator=(const driven&) = delete;
  ~driven() {
    groups.clear();
    ::close(epoll);
  }

  std::unique_ptr<CURL, easy_end> handle(const std::string& address) {
    std::unique_ptr<CURL, easy_end> easy{curl_easy_init()};
    curl_easy_setopt(easy.get(), CURLOPT_URL, address.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &drop);
    curl_easy_setopt(easy.get(), CURLOPT_SOCKOPTFUNCTION, &connection_groups::on_open);
    curl_easy_setopt(easy.get(), CURLOPT_SOCKOPTDATA, static_cast<void*>(&groups));
    curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETFUNCTION, &connection_groups::on_close);
    curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&groups));
    return easy;
  }
  void step(int most_ms = 10) {
    std::array<epoll_event, 8> events{};
    const int count = ::epoll_wait(epoll, events.data(), 8, most_ms);
    for (int i = 0; i < count; ++i)
      groups.on_event(events[static_cast<std::size_t>(i)].data.fd,
                      events[static_cast<std::size_t>(i)].events);
    groups.on_time(connection_groups::clock::now());
  }
  /// The descriptors that epoll knows, as the kernel lists them.
  [[nodiscard]] std::vector<int> known() const {
    std::ifstream list{"/proc/self/fdinfo/" + std::to_string(epoll)};
    std::vector<int> found;
    for (std::string word; list >> word;)
      if (int number = 0; word == "tfd:" && list >> number) found.push_back(number);
    return found;
  }
};

}  // namespace

TEST_CASE("connections: idle ones make room for others, and new ones are made when they are needed",
          "[remote][host]") {
  http_server server;
  server.put("/x", std::vector<std::byte>(1000));
  driven by;
  const auto request = [&] {
    auto easy = by.handle(server.address("/x"));
    const std::size_t group = by.groups.begin(easy.get());
    const CURLMsg* ended = nullptr;
    while ((ended = by.groups.next_ended()) == nullptr) by.step();
    CHECK(ended->data.result == CURLE_OK);
    CHECK(by.room.open() == 1);
    by.groups.close_idle();  // this one is not idle
    CHECK(by.room.open() == 1);
    by.groups.end(group, easy.get());
  };
  request();
  by.groups.close_idle();
  CHECK(by.room.open() == 0);
  CHECK(by.known().empty());
  request();
  CHECK(server.connections() == 2);
}

TEST_CASE("connections: epoll forgets one that is closed, though another process has its socket",
          "[remote][host]") {
  http_server server;
  server.put("/x", std::vector<std::byte>(1000));
  server.set_script(
      [](const http_request&) { return http_fault{.does = http_fault::kind::stall, .bytes = 10}; });
  driven by;
  auto easy = by.handle(server.address("/x"));
  const std::size_t group = by.groups.begin(easy.get());
  curl_off_t got = 0;
  while (got == 0) {
    by.step();
    curl_easy_getinfo(easy.get(), CURLINFO_SIZE_DOWNLOAD_T, &got);
  }
  REQUIRE(by.known().size() == 1);
  const int kept = ::dup(by.known().front());  // like a child of fork
  by.groups.end(group, easy.get());            // its answer is not whole, so it is closed
  CHECK(by.known().empty());
  server.open_gate();
  ::close(kept);
}

TEST_CASE("connections: epoll forgets an idle one that its server ends", "[remote][host]") {
  driven by;
  std::unique_ptr<CURL, easy_end> easy;
  int kept = -1;
  {
    http_server server;
    server.put("/x", std::vector<std::byte>(1000));
    easy = by.handle(server.address("/x"));
    const std::size_t group = by.groups.begin(easy.get());
    while (by.groups.next_ended() == nullptr) by.step();
    by.groups.end(group, easy.get());
    REQUIRE(by.known().size() == 1);
    kept = ::dup(by.known().front());
  }
  while (!by.known().empty()) by.step();
  by.groups.clear();
  CHECK(by.known().empty());
  ::close(kept);
}

TEST_CASE("connections: each look-up of a name is waited for, also by the same descriptor",
          "[remote][host]") {
  driven by;
  for (int look_up = 0; look_up < 3; ++look_up) {
    name_server_answers = false;
    auto easy = by.handle("http://lost.invalid:1/x");
    const std::size_t group = by.groups.begin(easy.get());
    by.step(0);
    by.step(0);
    CHECK(by.known().size() == 1);
    name_server_answers = true;
    while (by.groups.next_ended() == nullptr) by.step();
    by.groups.end(group, easy.get());
    easy.reset();
    CHECK(by.known().empty());
  }
}
