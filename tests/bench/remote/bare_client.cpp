#include "bench/remote/bare_client.hpp"

#include "bench/support/delivered.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace feedline::bench {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{128} << 10;
constexpr std::size_t memory_bytes = std::size_t{256} << 20;

struct request_source {
  int port;
  std::string path;
  std::uint64_t file_bytes;
  std::uint64_t range_bytes;
};

/// Connections of one thread.
class bare_thread {
 public:
  bare_thread(const request_source& of, int connections, bare_use use, std::uint32_t seed)
      : of_{of}, use_{use}, random_{seed}, events_{::epoll_create1(EPOLL_CLOEXEC)} {
    buffer_.resize(buffer_bytes);
    if (use_ != bare_use::discard) memory_.resize(memory_bytes);
    all_.resize(static_cast<std::size_t>(connections));
    for (std::size_t i = 0; i < all_.size(); ++i) connect(i);
  }
  bare_thread(const bare_thread&) = delete;
  bare_thread& operator=(const bare_thread&) = delete;
  ~bare_thread() {
    for (const connection& each : all_) ::close(each.socket);
    ::close(events_);
  }

  void run(const std::atomic<bool>& ends, std::atomic<std::uint64_t>& bytes) {
    for (connection& each : all_) ask(each);
    std::array<epoll_event, 64> found{};
    while (!ends.load(std::memory_order_relaxed)) {
      const int count = ::epoll_wait(events_, found.data(), static_cast<int>(found.size()), 100);
      for (int i = 0; i < count; ++i)
        bytes.fetch_add(receive(all_[found[static_cast<std::size_t>(i)].data.u32]),
                        std::memory_order_relaxed);
    }
  }

 private:
  struct connection {
    int socket = -1;
    std::uint64_t left = 0;  ///< bytes of the body that are to come
    std::string head;        ///< bytes that have come
  };

  void connect(std::size_t index) {
    connection& made = all_[index];
    made.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(of_.port));
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u32 = static_cast<std::uint32_t>(index);
    const int on = 1;
    if (made.socket < 0 ||
        ::connect(made.socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0 ||
        ::setsockopt(made.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
        ::epoll_ctl(events_, EPOLL_CTL_ADD, made.socket, &wanted) != 0)
      throw std::runtime_error{"a bare client cannot connect"};
  }

  void ask(connection& it) {
    const std::uint64_t ranges = std::max<std::uint64_t>(of_.file_bytes / of_.range_bytes, 1);
    const std::uint64_t begin = random_() % ranges * of_.range_bytes;
    const std::string request =
        "GET " + of_.path +
        " HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=" + std::to_string(begin) + "-" +
        std::to_string(begin + of_.range_bytes - 1) + "\r\n\r\n";
    it.head.clear();
    if (::send(it.socket, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
      throw std::runtime_error{"a bare client cannot send"};
  }

  /// One call of the kernel's. @return Bytes of the body.
  std::uint64_t receive(connection& it) {
    if (it.left == 0) return receive_head(it);
    const auto room = static_cast<std::size_t>(
        std::min<std::uint64_t>(it.left, use_ == bare_use::two_copies ? buffer_bytes : it.left));
    if (use_ != bare_use::discard && at_ + room > memory_.size()) at_ = 0;
    std::byte* const memory = use_ == bare_use::discard ? nullptr : memory_.data() + at_;
    std::byte* const out = use_ == bare_use::one_copy ? memory : buffer_.data();
    const ssize_t got =
        ::recv(it.socket, out, room, MSG_DONTWAIT | (use_ == bare_use::discard ? MSG_TRUNC : 0));
    if (got <= 0) throw std::runtime_error{"a bare client's connection broke"};
    const auto bytes = static_cast<std::size_t>(got);
    if (use_ == bare_use::two_copies) std::memcpy(memory, buffer_.data(), bytes);
    at_ += bytes;
    it.left -= bytes;
    if (it.left == 0) ask(it);
    return bytes;
  }

  std::uint64_t receive_head(connection& it) {
    std::array<char, 1024> some{};
    const ssize_t got = ::recv(it.socket, some.data(), some.size(), MSG_DONTWAIT);
    if (got <= 0) throw std::runtime_error{"a bare client's connection broke"};
    it.head.append(some.data(), static_cast<std::size_t>(got));
    const std::size_t end = it.head.find("\r\n\r\n");
    if (end == std::string::npos) return 0;
    if (it.head.find(" 206 ") != 8) throw std::runtime_error{"a bare client got no range"};
    const std::uint64_t come = it.head.size() - (end + 4);
    it.left = of_.range_bytes - std::min(come, of_.range_bytes);
    if (it.left == 0) ask(it);
    return come;
  }

  const request_source& of_;
  const bare_use use_;
  std::minstd_rand random_;
  const int events_;
  std::vector<connection> all_;
  std::vector<std::byte> buffer_, memory_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_string(bare_use use) {
  switch (use) {
    case bare_use::discard:
      return "discards";
    case bare_use::one_copy:
      return "one copy";
    case bare_use::two_copies:
      return "two copies";
  }
  return {};
}

bare_rate measure_bare(int port, const std::string& path, std::uint64_t file_bytes,
                       std::uint64_t range_bytes, int threads, int connections, bare_use use,
                       double seconds) {
  const request_source of{port, path, file_bytes, range_bytes};
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> bytes{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      try {
        const int own = connections / threads + (i < connections % threads ? 1 : 0);
        bare_thread{of, own, use, static_cast<std::uint32_t>(i + 1)}.run(ends, bytes);
      } catch (...) {
        const std::lock_guard lock{mutex};
        failure = std::current_exception();
      }
    });
  std::this_thread::sleep_for(std::chrono::milliseconds{500});  // connections, memory
  const meter timer;
  const std::uint64_t before = bytes.load();
  std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
  const delivered found = timer.stop(0, bytes.load() - before);
  ends.store(true);
  for (std::thread& each : running) each.join();
  if (failure) std::rethrow_exception(failure);
  return {found.bytes_per_second(), found.busy_cores()};
}

}  // namespace feedline::bench
