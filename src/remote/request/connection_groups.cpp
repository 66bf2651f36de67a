#include "remote/request/connection_groups.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

/// Requests in flight of a group.
constexpr long group_requests = 32;
/// Connections of a group that are kept. By default libcurl keeps four for each request in flight,
/// and closes others one by one whenever few are in flight, as near an epoch's end.
constexpr long max_connections = 2 * group_requests;

}  // namespace

/// One with few requests; the first ones are filled first, so that their connections are used.
std::size_t connection_groups::free_group() {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (groups_[i]->running < group_requests) return i;
  auto made = std::make_unique<group>();
  made->owner = this;
  groups_.push_back(std::move(made));
  return groups_.size() - 1;
}

void connection_groups::open(group& it) {
  it.multi.reset(curl_multi_init());
  if (!it.multi) throw std::bad_alloc{};
  CURLM* const multi = it.multi.get();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, max_connections);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &connection_groups::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, static_cast<void*>(&it));
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &connection_groups::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, static_cast<void*>(&it));
}

void connection_groups::close_idle() noexcept {
  for (const auto& each : groups_) {
    if (each->running != 0) continue;
    each->multi.reset();
    each->timer = clock::time_point::max();
  }
}

std::size_t connection_groups::begin(CURL* easy) {
  const std::size_t number = free_group();
  group& in = *groups_[number];
  if (!in.multi) open(in);
  if (curl_multi_add_handle(in.multi.get(), easy) != CURLM_OK) throw std::bad_alloc{};
  ++in.running;
  return number;
}

void connection_groups::end(std::size_t number, CURL* easy) noexcept {
  group& of = *groups_[number];
  curl_multi_remove_handle(of.multi.get(), easy);
  --of.running;
}

int connection_groups::on_socket(CURL*, curl_socket_t socket, int what, void* of, void*) {
  group& its = *static_cast<group*>(of);
  try {
    its.owner->watch(socket, its, what);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a socket without events is found by its stall
  }
  return 0;
}

connection_groups::watched& connection_groups::at(curl_socket_t socket) {
  const auto number = static_cast<std::size_t>(socket);
  if (number >= sockets_.size()) sockets_.resize(number + usual_sockets);
  return sockets_[number];
}

/// A connection stays with epoll from request to request: each change would be a call of the
/// kernel's.
void connection_groups::watch(curl_socket_t socket, group& by, int what) {
  watched& it = at(socket);
  it.is_wanted = what != CURL_POLL_REMOVE;
  if (!it.is_wanted) {
    if (!it.is_connection) forget(socket);
    return;
  }
  epoll_event wanted{};
  wanted.data.fd = socket;
  if (what != CURL_POLL_OUT) wanted.events |= EPOLLIN;
  if (what != CURL_POLL_IN) wanted.events |= EPOLLOUT;
  const bool is_new = it.by == nullptr;
  it.by = &by;
  if (!is_new && it.events == wanted.events) return;
  it.events = wanted.events;
  const bool is_changed = !is_new && ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &wanted) == 0;
  if (!is_changed && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &wanted) != 0)
    it.by = nullptr;  // the next request on it tries again
}

/// Takes a socket out of epoll. Closing it does not, if another process has it, such as a child of
/// fork: then epoll would report it forever.
void connection_groups::forget(int socket) noexcept {
  watched& it = sockets_[static_cast<std::size_t>(socket)];
  if (it.by == nullptr) return;
  epoll_event unused{};
  (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &unused);
  it.by = nullptr;
}

int connection_groups::on_open(void* self, curl_socket_t socket, curlsocktype) {
  try {
    auto& its = *static_cast<connection_groups*>(self);
    its.at(socket) = {.is_connection = true};
    its.room_.opened();
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; it does not stay with epoll
  }
  return CURL_SOCKOPT_OK;
}

int connection_groups::on_close(void* self, curl_socket_t socket) {
  auto& its = *static_cast<connection_groups*>(self);
  if (const auto number = static_cast<std::size_t>(socket); number < its.sockets_.size()) {
    its.forget(socket);
    if (its.sockets_[number].is_connection) its.room_.closed();
    its.sockets_[number] = {};
  }
  return ::close(socket);
}

int connection_groups::on_timer(CURLM*, long ms, void* of) {
  static_cast<group*>(of)->timer =
      ms < 0 ? clock::time_point::max() : clock::now() + std::chrono::milliseconds{ms};
  return 0;
}

void connection_groups::on_event(int socket, std::uint32_t events) {
  const auto number = static_cast<std::size_t>(socket);
  if (number >= sockets_.size()) return;
  const watched& known = sockets_[number];
  if (known.by == nullptr) return;              // closed since
  if (!known.is_wanted) return forget(socket);  // the server ends it; libcurl will find out
  int what = 0;
  if ((events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
  int still_running = 0;
  curl_multi_socket_action(known.by->multi.get(), socket, what, &still_running);
}

void connection_groups::on_time(clock::time_point now) {
  for (const auto& each : groups_) {
    if (each->timer > now) continue;
    each->timer = clock::time_point::max();
    int still_running = 0;
    curl_multi_socket_action(each->multi.get(), CURL_SOCKET_TIMEOUT, 0, &still_running);
  }
}

connection_groups::clock::time_point connection_groups::next_time() const noexcept {
  auto first = clock::time_point::max();
  for (const auto& each : groups_) first = std::min(first, each->timer);
  return first;
}

const CURLMsg* connection_groups::next_ended() noexcept {
  for (const auto& each : groups_) {
    int left = 0;
    while (each->running != 0) {
      const CURLMsg* const message = curl_multi_info_read(each->multi.get(), &left);
      if (message == nullptr) break;
      if (message->msg == CURLMSG_DONE) return message;
    }
  }
  return nullptr;
}

}  // namespace feedline::detail
