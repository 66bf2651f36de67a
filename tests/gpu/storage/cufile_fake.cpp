/// In the stead of libcufile.so.0: the calls that the library takes from there, done by `pread`. A
/// test says what they refuse, and how bytes get into device memory.

#include "gpu/storage/cufile_fake.hpp"

#include "cuda/storage/cufile.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

using feedline::detail::cufile_library;

namespace {

feedline::test::cufile_script script;

int number_of(void* handle) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] feedline::test::cufile_script* cufile_fake_script() {
  return &script;
}

[[gnu::visibility("default")]] cufile_library::status cuFileDriverOpen() {
  ++script.driver_opens;
  return {script.driver_code, 0};
}

[[gnu::visibility("default")]] cufile_library::status cuFileHandleRegister(
    void** handle, cufile_library::description* file) {
  if (file->type != 1 || file->calls != nullptr) return {5022, 0};
  if (script.register_code != 0) return {script.register_code, 0};
  script.is_direct = (::fcntl(file->file, F_GETFL) & O_DIRECT) != 0;
  ++script.registered;
  *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(file->file) + 1);
  return {0, 0};
}

[[gnu::visibility("default")]] void cuFileHandleDeregister(void* handle) {
  if (handle != nullptr) --script.registered;
}

[[gnu::visibility("default")]] ssize_t cuFileRead(void* handle, void* to, std::size_t bytes,
                                                  off_t offset, off_t to_offset) {
  ++script.reads;
  if (script.read_result < 0) return script.read_result;
  // A file that was opened past the page cache is read with it here, at any offset.
  const int flags = ::fcntl(number_of(handle), F_GETFL);
  ::fcntl(number_of(handle), F_SETFL, flags & ~O_DIRECT);
  std::vector<std::byte> read(std::min(bytes, script.most_at_once));
  const ssize_t got = ::pread(number_of(handle), read.data(), read.size(), offset);
  if (got > 0) {
    std::byte* const into = static_cast<std::byte*>(to) + to_offset;
    const auto count = static_cast<std::size_t>(got);
    if (script.copy != nullptr)
      script.copy(into, read.data(), count);
    else
      std::memcpy(into, read.data(), count);
  }
  return got;
}

}  // extern "C"
