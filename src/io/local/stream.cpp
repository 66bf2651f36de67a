#include "io/local/stream.hpp"

#include "io/local/kept_descriptor.hpp"

#include <sys/stat.h>

#include <utility>

namespace feedline::detail {

local_stream::local_stream(file_field name)
    : name_{std::move(name)}, file_{open_with_room(name_.path.c_str())} {
  const auto refusal = [this](const std::string& why) {
    return dataset_error{{.path = name_.path, .field = name_.field}, why};
  };
  if (file_.number() < 0) throw refusal(file_.refusal());
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0) throw refusal("cannot be examined: " + system_words());
  if (S_ISDIR(status.st_mode)) throw refusal("is a directory; name a file in it");
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t local_stream::read(std::span<std::byte> into) {
  std::size_t count = 0;
  while (count < into.size()) {
    const ssize_t got = ::read(file_.number(), into.data() + count, into.size() - count);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw name_.error(offset_, "cannot be read: " + system_words());
    }
    count += static_cast<std::size_t>(got);
    offset_ += static_cast<std::uint64_t>(got);
  }
  return count;
}

}  // namespace feedline::detail
