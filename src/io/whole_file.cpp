#include "io/whole_file.hpp"

#include <feedline/error.hpp>

#include "io/kept_descriptor.hpp"

#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>

namespace feedline::detail {
namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

}  // namespace

whole_file read_whole_file(const std::string& path, std::vector<std::byte>& memory) {
  return read_whole_file(path, [&](std::size_t bytes) {
    if (memory.size() < bytes) memory.resize(bytes);
    return std::span{memory}.first(bytes);
  });
}

whole_file read_whole_file(const std::string& path,
                           const std::function<std::span<std::byte>(std::size_t)>& room) {
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = path, .field = {}}, why};
  };
  const descriptor file = open_with_room(path.c_str(), O_NONBLOCK);
  struct stat status {};
  if (file.number() < 0) throw refusal(file.refusal());
  if (::fstat(file.number(), &status) != 0) throw refusal("cannot be examined: " + system_words());
  if (!S_ISREG(status.st_mode)) throw refusal("is no regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes)
    throw refusal("has " + std::to_string(size) + " bytes, and more than " +
                  std::to_string(max_bytes) + " are not read");
  const auto bytes = room(static_cast<std::size_t>(size));

  // First the part that is in memory. If the system cannot tell, no file counts as cold.
  const iovec all{bytes.data(), bytes.size()};
  const ssize_t there = ::preadv2(file.number(), &all, 1, 0, RWF_NOWAIT);
  const bool can_tell = there >= 0 || errno == EAGAIN;
  auto count = static_cast<std::size_t>(std::max<ssize_t>(there, 0));
  const bool was_in_memory = count == bytes.size() || !can_tell;
  while (count < bytes.size()) {
    const ssize_t got = ::pread(file.number(), bytes.data() + count, bytes.size() - count,
                                static_cast<off_t>(count));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw refusal("cannot be read: " + system_words());
    if (got == 0)
      throw refusal("was cut short to " + std::to_string(count) + " of " + std::to_string(size) +
                    " bytes while it was read");
    count += static_cast<std::size_t>(got);
  }
  return {bytes, was_in_memory};
}

void will_need_whole_file(const std::string& path) noexcept {
  const descriptor file = open_with_room(path.c_str(), O_NONBLOCK);
  if (file.number() >= 0)
    static_cast<void>(::posix_fadvise(file.number(), 0, 0, POSIX_FADV_WILLNEED));
}

}  // namespace feedline::detail
