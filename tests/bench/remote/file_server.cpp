#include "bench/remote/file_server.hpp"

#include "bench/support/child_server.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>

namespace feedline::bench {
namespace {

using clock = std::chrono::steady_clock;

struct served_file {
  int descriptor = -1;
  std::uint64_t size = 0;
  std::string etag;
};

/// The answer that a connection is sending.
struct outgoing {
  std::string head;
  int file = -1;
  off_t at = 0;
  std::uint64_t end = 0;
};

struct connection {
  int socket = -1;
  std::string in;
  outgoing out;
  enum class state : std::uint8_t { idle, waiting, sending };
  state now = state::idle;  ///< waiting: the answer's time has not come
};

/// Serves some connections. One thread.
class worker {
 public:
  worker(const std::filesystem::path& folder, std::chrono::microseconds latency,
         file_server::counts& shared)
      : folder_{folder},
        latency_{latency},
        shared_{shared},
        events_{::epoll_create1(EPOLL_CLOEXEC)} {}
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() = default;  // the process ends before

  /// From any thread.
  void add(int socket) const {
    auto* const made = new connection{.socket = socket, .in = {}, .out = {}};
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLOUT | EPOLLET;
    wanted.data.ptr = made;
    if (::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &wanted) != 0) std::abort();
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 64> found{};
    for (;;) {
      const int count =
          ::epoll_wait(events_, found.data(), static_cast<int>(found.size()), wait_ms());
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = found[static_cast<std::size_t>(i)];
        advance(*static_cast<connection*>(event.data.ptr));
      }
      while (!late_.empty() && late_.front().first <= clock::now()) {
        connection& due = *late_.front().second;
        late_.pop_front();
        due.now = connection::state::sending;
        advance(due);
      }
    }
  }

 private:
  [[nodiscard]] int wait_ms() const {
    if (late_.empty()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(late_.front().first - clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

  /// Sends what can be sent, and takes the next request.
  void advance(connection& it) {
    if (it.now == connection::state::sending) send(it);
    for (;;) {
      std::array<char, 4096> buffer{};
      const ssize_t got = ::recv(it.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) {
        it.in.append(buffer.data(), static_cast<std::size_t>(got));
        continue;
      }
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) return end(it);
      break;
    }
    while (it.now == connection::state::idle) {
      const std::size_t head = it.in.find("\r\n\r\n");
      if (head == std::string::npos) return;
      answer(it, std::string_view{it.in}.substr(0, head + 2));
      it.in.erase(0, head + 4);
      if (latency_.count() == 0) {
        it.now = connection::state::sending;
        send(it);
      } else {
        it.now = connection::state::waiting;
        late_.emplace_back(clock::now() + latency_, &it);
      }
    }
  }

  /// One that waits for its time is left as it is: its memory is not freed, and its sends fail.
  static void end(connection& it) {
    if (it.socket >= 0) ::close(it.socket);
    it.socket = -1;
  }

  static std::string_view header(std::string_view head, std::string_view name) {
    const std::size_t at = head.find(name);
    if (at == std::string_view::npos) return {};
    head.remove_prefix(at + name.size());
    return head.substr(0, head.find("\r\n"));
  }

  void answer(connection& it, std::string_view request) {
    shared_.requests.fetch_add(1, std::memory_order_relaxed);
    const std::size_t space = request.find(' ');
    const std::string path{request.substr(space + 1, request.find(' ', space + 1) - space - 1)};
    const served_file& file = find(path);
    if (file.descriptor < 0) {
      it.out = {.head = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
      return;
    }
    const std::string_view match = header(request, "\r\nIf-Match: ");
    if (!match.empty() && match != file.etag) {
      it.out = {.head = "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n"};
      return;
    }
    std::uint64_t begin = 0;
    std::uint64_t end = file.size;
    std::string head = "HTTP/1.1 200 OK\r\n";
    if (const std::string range{header(request, "\r\nRange: bytes=")}; !range.empty()) {
      begin = std::min<std::uint64_t>(std::stoull(range), file.size);
      end = std::min<std::uint64_t>(std::stoull(range.substr(range.find('-') + 1)) + 1, file.size);
      head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(begin) + "-" +
             std::to_string(end - 1) + "/" + std::to_string(file.size) + "\r\n";
    }
    head +=
        "Content-Length: " + std::to_string(end - begin) + "\r\nETag: " + file.etag + "\r\n\r\n";
    it.out = {std::move(head), file.descriptor, static_cast<off_t>(begin), end};
    shared_.bytes.fetch_add(end - begin, std::memory_order_relaxed);
  }

  const served_file& find(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second;
    served_file opened;
    struct stat of {};
    const std::string name = folder_.string() + path;
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && ::fstat(descriptor, &of) == 0)
      opened = {descriptor, static_cast<std::uint64_t>(of.st_size),
                "\"" + std::to_string(of.st_ino) + "-" + std::to_string(of.st_size) + "\""};
    if (opened.descriptor < 0) {
      static const served_file none;
      return none;  // it may be made later
    }
    return files_.emplace(path, std::move(opened)).first->second;
  }

  /// Until all is sent, or the socket takes no more: then an event comes.
  static void send(connection& it) {
    outgoing& out = it.out;
    while (!out.head.empty()) {
      const int more = static_cast<std::uint64_t>(out.at) < out.end ? MSG_MORE : 0;
      const ssize_t sent =
          ::send(it.socket, out.head.data(), out.head.size(), MSG_NOSIGNAL | MSG_DONTWAIT | more);
      if (sent < 0) return;
      out.head.erase(0, static_cast<std::size_t>(sent));
    }
    send_body(it);
  }

  static void send_body(connection& it) {
    outgoing& out = it.out;
    while (static_cast<std::uint64_t>(out.at) < out.end) {
      const std::uint64_t left = out.end - static_cast<std::uint64_t>(out.at);
      if (::sendfile(it.socket, out.file, &out.at, left) <= 0) return;
    }
    it.now = connection::state::idle;
  }

  const std::filesystem::path& folder_;
  const std::chrono::microseconds latency_;
  file_server::counts& shared_;
  const int events_;
  std::deque<std::pair<clock::time_point, connection*>> late_;  ///< in order of their times
  std::map<std::string, served_file, std::less<>> files_;
};

int listen_on_loopback(int& port) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  if (::bind(listening, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listening, 4096) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"a server on 127.0.0.1 cannot be started"};
  port = ntohs(at.sin_port);
  return listening;
}

/// Serves until the process is ended.
[[noreturn]] void serve(int listening, const std::filesystem::path& folder,
                        const file_server::options& how, file_server::counts& shared) {
  (void)std::signal(SIGPIPE, SIG_IGN);  // sendfile to a client that has gone
  stay_on(how.cores);
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < how.threads; ++i) {
    workers.push_back(std::make_unique<worker>(folder, how.latency, shared));
    threads.emplace_back([of = workers.back().get()] { of->run(); });
  }
  for (std::size_t next = 0;; ++next) {
    const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    workers[next % workers.size()]->add(socket);
  }
}

}  // namespace

file_server::file_server(const std::filesystem::path& folder, const options& how) {
  raise_open_files();
  void* const memory =
      ::mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error{"no memory for a server's counts"};
  shared_ = new (memory) counts;
  const int listening = listen_on_loopback(port_);
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) serve(listening, folder, how, *shared_);
    ::_exit(1);
  }
  ::close(listening);
  if (child_ < 0) throw std::runtime_error{"no process for a server"};
}

file_server::~file_server() {
  ::kill(child_, SIGKILL);
  int status = 0;
  ::waitpid(child_, &status, 0);
  ::munmap(shared_, sizeof(counts));
}

double file_server::cpu_seconds() const {
  clockid_t of{};
  timespec used{};
  if (::clock_getcpuclockid(child_, &of) != 0 || ::clock_gettime(of, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::vector<unsigned> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  (void)::sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  return cores;
}

void stay_on(const std::vector<unsigned>& cores) {
  if (cores.empty()) return;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const unsigned core : cores) CPU_SET(core, &wanted);
  if (::sched_setaffinity(0, sizeof(wanted), &wanted) != 0)
    throw std::runtime_error{"these cores cannot be used"};
}

}  // namespace feedline::bench
