#include "remote/direct/connections.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// Servers mostly close connections that are idle for longer.
constexpr auto max_idle = 55s;

}  // namespace

bool direct_connections::is_again(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

bool direct_connections::is_quiet(int socket) noexcept {
  char one = 0;
  const ssize_t got = ::recv(socket, &one, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && is_again(errno);
}

std::optional<int> direct_connections::begin(const direct_address& to, std::string head,
                                             direct_receiver& by) {
  connection* it = idle_one(to.server);
  if (it == nullptr) it = connect(to.server);
  if (it == nullptr) return {};
  it->by = &by;
  it->turn = ++begun_;
  it->out = std::move(head);
  it->head.clear();
  it->has_head = it->has_ended = false;
  it->is_kept = true;
  by.sends();
  try {
    send(*it);
  } catch (...) {
    close(*it);
    throw;
  }
  return it->socket;
}

direct_connections::connection* direct_connections::idle_one(std::string_view server) noexcept {
  const auto found = idle_.find(server);
  if (found == idle_.end()) return nullptr;
  const auto oldest = clock::now() - max_idle;
  while (!found->second.empty()) {
    connection& it = *by_socket_[static_cast<std::size_t>(found->second.back())];
    found->second.pop_back();
    if (it.idle_since > oldest && is_quiet(it.socket)) return &it;
    close(it);
  }
  return nullptr;
}

direct_connections::connection* direct_connections::connect(std::string_view server) {
  const auto at = servers_.find(server);
  if (!at) return nullptr;
  auto made = std::make_unique<connection>();
  made->server = std::string{server};
  (void)idle_[made->server];  // so that its end needs no memory
  const int socket =
      ::socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (socket < 0) return nullptr;
  made->socket = socket;
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const auto number = static_cast<std::size_t>(socket);
  try {
    if (number >= by_socket_.size()) {
      ended_.reserve(number + 1024);
      by_socket_.resize(number + 1024);
    }
  } catch (...) {
    ::close(socket);
    throw;
  }
  by_socket_[number] = std::move(made);
  room_.opened();
  connection& it = *by_socket_[number];
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&at->address), at->bytes) == 0)
    it.is_connected = true;
  else if (errno != EINPROGRESS) {
    servers_.lose(server);
    close(it);
    return nullptr;
  }
  try {
    watch(it, false, true);
  } catch (...) {
    close(it);
    throw;
  }
  return &it;
}

/// A connection stays with epoll from request to request: each change would be a call of the
/// kernel's.
void direct_connections::watch(connection& it, bool to_send, bool is_new) {
  epoll_event wanted{};
  wanted.data.fd = it.socket;
  wanted.events = EPOLLIN;
  if (to_send) wanted.events |= EPOLLOUT;
  it.waits_to_send = to_send;
  if (::epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, it.socket, &wanted) != 0)
    throw std::bad_alloc{};
}

void direct_connections::send(connection& it) {
  while (!it.out.empty()) {
    const ssize_t sent = ::send(it.socket, it.out.data(), it.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && (is_again(errno) || (errno == ENOTCONN && !it.is_connected))) break;
    if (sent < 0) {
      finish(it, it.was_used       ? outcome::was_closed
                 : it.is_connected ? outcome::broke
                                   : outcome::unreachable);
      return;
    }
    it.is_connected = true;
    it.out.erase(0, static_cast<std::size_t>(sent));
  }
  if (it.waits_to_send != !it.out.empty()) watch(it, !it.out.empty(), false);
}

/// One request that has no memory does not end the others.
bool direct_connections::on_event(int socket) noexcept {
  const auto number = static_cast<std::size_t>(socket);
  if (number >= by_socket_.size() || !by_socket_[number]) return false;
  connection& it = *by_socket_[number];
  if (it.by == nullptr) {  // the server ends it, or sends what no request asked for
    auto& idle = idle_.find(it.server)->second;
    std::erase(idle, socket);
    close(it);
    return true;
  }
  if (!it.has_ended) try {
      proceed(it);
    } catch (...) {
      if (!it.has_ended) finish(it, outcome::no_memory);
    }
  return true;
}

void direct_connections::proceed(connection& it) {
  if (!it.out.empty()) {
    if (!it.is_connected) {
      int error = 0;
      socklen_t bytes = sizeof error;
      if (::getsockopt(it.socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0)
        return finish(it, outcome::unreachable);
      it.by->sends();
    }
    send(it);
  }
  receive(it);
}

void direct_connections::finish(connection& it, outcome how, std::string_view unfit_as) noexcept {
  if (how != outcome::whole) it.is_kept = false;
  const bool is_told = how == outcome::unfit && servers_.refuse(it.server);
  if (how == outcome::unreachable) servers_.lose(it.server);
  it.has_ended = true;
  ended_.push_back({it.by, how, is_told ? unfit_as : std::string_view{}});
}

std::optional<direct_connections::ended> direct_connections::next_ended() noexcept {
  if (ended_.empty()) return {};
  const ended next = ended_.front();
  ended_.erase(ended_.begin());
  return next;
}

void direct_connections::end(int socket) noexcept {
  connection& it = *by_socket_[static_cast<std::size_t>(socket)];
  std::erase_if(ended_, [&](const ended& each) { return each.by == it.by; });
  if (!it.has_ended && !it.is_connected) servers_.lose(it.server);
  it.by = nullptr;
  it.turn = 0;
  it.was_used = true;
  it.idle_since = clock::now();
  if (it.has_ended && it.is_kept) try {
      idle_.find(it.server)->second.push_back(socket);
      return;
    } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory: it is not kept
    }
  close(it);
}

/// Closing a socket does not take it out of epoll, if a child of fork has it, too.
void direct_connections::close(connection& it) noexcept {
  epoll_event unused{};
  (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, it.socket, &unused);
  ::close(it.socket);
  room_.closed();
  by_socket_[static_cast<std::size_t>(it.socket)].reset();
}

bool direct_connections::has_idle(std::string_view server) const noexcept {
  const auto found = idle_.find(server);
  return found != idle_.end() && !found->second.empty();
}

void direct_connections::close_idle() noexcept {
  for (auto& [server, sockets] : idle_) {
    for (const int socket : sockets) close(*by_socket_[static_cast<std::size_t>(socket)]);
    sockets.clear();
  }
}

void direct_connections::clear() noexcept {
  for (const auto& each : by_socket_)
    if (each) close(*each);
  idle_.clear();
  ended_.clear();
}

}  // namespace feedline::detail
