#include "python/workers/channel.hpp"

#include <feedline/error.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include <poll.h>

namespace feedline::python {

/// All channels of the process, and the ends for processes that are being started. A child of fork
/// closes its copies: with them it would keep connections open whose process has ended.
class open_channels {
 public:
  static open_channels& of_process() {
    static auto* const channels = new open_channels;  // channels may end after static objects
    return *channels;
  }

  std::mutex mutex;
  std::set<channel*> all;
  std::set<int> others;
  /// Ends for the process that this thread starts, perhaps by a fork.
  static thread_local const std::vector<int>* starting;

 private:
  open_channels() {
    const auto lock = [] { of_process().mutex.lock(); };
    const auto unlock = [] { of_process().mutex.unlock(); };
    const auto close_all = [] {
      open_channels& here = of_process();
      for (channel* const each : here.all) ::close(std::exchange(each->socket_, -1));
      for (const int each : here.others)
        if (starting == nullptr || std::ranges::find(*starting, each) == starting->end())
          ::close(each);
      here.all.clear();
      here.others.clear();
      here.mutex.unlock();
    };
    if (::pthread_atfork(lock, unlock, close_all) != 0) throw std::bad_alloc{};
  }
};

thread_local const std::vector<int>* open_channels::starting = nullptr;

namespace {

[[noreturn]] void refuse(const char* what) {
  throw usage_error{std::string{what} + ": " + std::generic_category().message(errno)};
}

/// Room for one descriptor beside a message.
union control_room {
  cmsghdr aligned;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

channel::channel(int socket) : socket_{socket} {
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);  // a spawned worker got it without this flag
  open_channels& here = open_channels::of_process();
  const std::scoped_lock lock{here.mutex};
  here.all.insert(this);
}

channel::~channel() {
  open_channels& here = open_channels::of_process();
  const std::scoped_lock lock{here.mutex};
  here.all.erase(this);
  if (socket_ >= 0) ::close(socket_);
}

new_connections::new_connections(std::size_t count) {
  open_channels& here = open_channels::of_process();
  own_.reserve(count);
  others_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    int ends[2] = {-1, -1};
    {
      const std::scoped_lock lock{here.mutex};
      if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
        here.others.insert({ends[0], ends[1]});  // the first until it is a channel
    }
    if (ends[0] < 0) {
      close_others();
      refuse("a worker cannot be connected");
    }
    others_.push_back(ends[1]);
    own_.push_back(std::make_unique<channel>(ends[0]));
    const std::scoped_lock lock{here.mutex};
    here.others.erase(ends[0]);
  }
  open_channels::starting = &others_;
}

new_connections::~new_connections() {
  open_channels::starting = nullptr;
  close_others();
}

void new_connections::close_others() noexcept {
  open_channels& here = open_channels::of_process();
  const std::scoped_lock lock{here.mutex};
  for (const int each : others_) {
    here.others.erase(each);
    ::close(each);
  }
}

bool channel::send(std::span<const std::byte> message, int descriptor) const {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_room room{};
  if (descriptor >= 0) {
    header.msg_control = room.bytes;
    header.msg_controllen = sizeof room.bytes;
    cmsghdr* const beside = CMSG_FIRSTHDR(&header);
    beside->cmsg_level = SOL_SOCKET;
    beside->cmsg_type = SCM_RIGHTS;
    beside->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(beside), &descriptor, sizeof descriptor);
  }
  while (::sendmsg(socket_, &header, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET || errno == EBADF || errno == ENOTCONN) return false;
    refuse("a worker cannot be told what to do");
  }
  return true;
}

channel::received channel::receive(std::span<std::byte> into,
                                   std::optional<std::chrono::milliseconds> patience,
                                   int process) const {
  int how = MSG_CMSG_CLOEXEC;
  if (patience || process >= 0) {
    pollfd asked[] = {{socket_, POLLIN, 0}, {process, POLLIN, 0}};  // -1 is passed over
    const auto most = static_cast<std::int64_t>(std::numeric_limits<int>::max());
    const int ready =
        ::poll(asked, 2, patience ? static_cast<int>(std::min(patience->count(), most)) : -1);
    if (ready == 0) return {outcome::late};
    if (ready < 0) return {errno == EINTR ? outcome::interrupted : outcome::ended};
    // A process that has ended may have answered before.
    if (asked[0].revents == 0) how |= MSG_DONTWAIT;
  }
  iovec part{into.data(), into.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_room room{};
  header.msg_control = room.bytes;
  header.msg_controllen = sizeof room.bytes;
  const ssize_t size = ::recvmsg(socket_, &header, how);
  if (size < 0 && errno == EINTR) return {outcome::interrupted};
  if (size <= 0) return {outcome::ended};
  received got{outcome::message, static_cast<std::size_t>(size)};
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at))
    if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS)
      std::memcpy(&got.descriptor, CMSG_DATA(at), sizeof got.descriptor);
  return got;
}

void channel::shut() const noexcept {
  ::shutdown(socket_, SHUT_RDWR);
}

}  // namespace feedline::python
