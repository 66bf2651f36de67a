#include "io/whole_file.hpp"

#include <feedline/error.hpp>

#include "io/descriptor.hpp"

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>

namespace feedline::detail {
namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

/// Bytes from the file's beginning that are in memory already: as many as come without waiting.
std::size_t read_what_is_there(int file, std::span<std::byte> into) {
#ifdef RWF_NOWAIT
  const iovec place{into.data(), into.size()};
  const ssize_t got = ::preadv2(file, &place, 1, 0, RWF_NOWAIT);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
#else
  static_cast<void>(file);
  static_cast<void>(into);
  return 0;
#endif
}

/// Whether the system can tell what is in memory; where it cannot, nothing is cold.
bool tells_what_is_there(int file) {
#ifdef RWF_NOWAIT
  std::byte first{};
  const iovec place{&first, 1};
  return ::preadv2(file, &place, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
#else
  static_cast<void>(file);
  return false;
#endif
}

}  // namespace

whole_file read_whole_file(const std::string& path, std::vector<std::byte>& memory) {
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = path, .field = {}}, why};
  };
  const descriptor file{path.c_str(), O_NONBLOCK};
  struct stat status {};
  if (file.number() < 0) throw refusal(file.refusal());
  if (::fstat(file.number(), &status) != 0) throw refusal("cannot be examined: " + system_words());
  if (!S_ISREG(status.st_mode)) throw refusal("is no regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes)
    throw refusal("has " + std::to_string(size) + " bytes, and more than " +
                  std::to_string(max_bytes) + " are not read");
  if (memory.size() < size) memory.resize(static_cast<std::size_t>(size));
  const auto bytes = std::span{memory}.first(static_cast<std::size_t>(size));

  std::size_t count = read_what_is_there(file.number(), bytes);
  const bool was_in_memory = count == bytes.size() || !tells_what_is_there(file.number());
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
  const descriptor file{path.c_str(), O_NONBLOCK};
  if (file.number() >= 0)
    static_cast<void>(::posix_fadvise(file.number(), 0, 0, POSIX_FADV_WILLNEED));
}

}  // namespace feedline::detail
