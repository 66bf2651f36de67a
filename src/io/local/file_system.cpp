#include "io/file_system.hpp"

#include "io/local/file.hpp"
#include "io/local/kept_descriptor.hpp"
#include "io/local/stream.hpp"

#include <sys/stat.h>
#include <sys/uio.h>
#include <system_error>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <span>
#include <string>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

class local_file_system final : public file_system {
 public:
  byte_file_ptr open(const std::string& path, file_access how) const override {
    return std::make_shared<const local_file>(path, how);
  }

  entry_kind kind_of(const std::string& path) const noexcept override {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
      return errno == ENOENT || errno == ENOTDIR ? entry_kind::nothing : entry_kind::unknown;
    if (S_ISREG(status.st_mode)) return entry_kind::file;
    if (S_ISDIR(status.st_mode)) return entry_kind::folder;
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? entry_kind::pipe
                                                                : entry_kind::unknown;
  }

  std::vector<folder_entry> list(const std::string& folder) const override try {
    std::vector<folder_entry> entries;
    for (const auto& each : fs::directory_iterator{folder}) {
      std::error_code broken_link;
      entries.push_back({each.path().filename().string(), each.is_directory(broken_link)});
    }
    return entries;
  } catch (const fs::filesystem_error& error) {
    throw dataset_error{{.path = folder, .field = {}},
                        "cannot be listed: " + error.code().message() + "; " +
                            remedy_for_opening(error.code().value())};
  }

  std::unique_ptr<byte_source> stream(const file_field& name) const override {
    return std::make_unique<local_stream>(name);
  }

  /// With few calls, as folders have many files.
  whole_file read_whole(const std::string& path, const room& memory) const override {
    return read_examined(open_with_room(path.c_str(), O_NONBLOCK), path, memory);
  }

  /// A read that ends where the file is expected to end tells as much as its status would.
  whole_file read_expected(const std::string& path, std::span<std::byte> out, std::size_t bytes,
                           const room& memory) const override {
    const descriptor file = open_with_room(path.c_str(), O_NONBLOCK);
    if (file.number() < 0) return read_examined(file, path, memory);
    std::byte beyond{};  // for a file that has grown, where it would fill the memory
    const std::array<iovec, 2> parts{{{out.data(), out.size()}, {&beyond, 1}}};
    const ssize_t there =
        ::preadv2(file.number(), parts.data(), out.size() > bytes ? 1 : 2, 0, RWF_NOWAIT);
    if (there == static_cast<ssize_t>(bytes)) return {out.first(bytes), true};
    if (there < 0) return read_examined(file, path, memory, errno == EAGAIN ? 0 : unknown);
    const auto count = static_cast<std::uint64_t>(there);
    return read_examined(file, path, memory, count < bytes ? count : unknown);
  }

  void will_need_whole(const std::string& path,
                       std::uint64_t /*max_bytes*/) const noexcept override {
    const descriptor file = open_with_room(path.c_str(), O_NONBLOCK);
    if (file.number() >= 0)
      static_cast<void>(::posix_fadvise(file.number(), 0, 0, POSIX_FADV_WILLNEED));
  }

  std::uint64_t size_of(const std::string& path) const noexcept override {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }

 private:
  static constexpr std::uint64_t unknown = UINT64_MAX;

  /// @param in_memory Number of the file's first bytes that could be read without waiting.
  static whole_file read_examined(const descriptor& file, const std::string& path,
                                  const room& memory, std::uint64_t in_memory = unknown) {
    const auto refusal = [&](const std::string& why) {
      return dataset_error{{.path = path, .field = {}}, why};
    };
    struct stat status {};
    if (file.number() < 0) throw refusal(file.refusal());
    if (::fstat(file.number(), &status) != 0)
      throw refusal("cannot be examined: " + system_words());
    if (!S_ISREG(status.st_mode)) throw refusal("is not a regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_whole_bytes)
      throw refusal("has " + std::to_string(size) + " bytes, and more than " +
                    std::to_string(max_whole_bytes) + " are not read");
    const auto bytes = memory(static_cast<std::size_t>(size));

    // First the part that is in memory. If the system cannot tell, no file counts as cold.
    const iovec all{bytes.data(), bytes.size()};
    const ssize_t there = ::preadv2(file.number(), &all, 1, 0, RWF_NOWAIT);
    const bool can_tell = there >= 0 || errno == EAGAIN;
    auto count = static_cast<std::size_t>(std::max<ssize_t>(there, 0));
    const bool was_in_memory = in_memory >= size && (count == bytes.size() || !can_tell);
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
};

}  // namespace

const file_system& local_files() noexcept {
  // Never destroyed, for threads that outlast all statics. In static memory, so that a copy of the
  // library that is closed leaks nothing.
  using files = local_file_system;
  alignas(files) static std::byte room[sizeof(files)];  // NOLINT(modernize-avoid-c-arrays)
  static const auto* const all = new (room) files;
  return *all;
}

}  // namespace feedline::detail
