#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace feedline::detail {

/// The system's words for an error.
[[nodiscard]] inline std::string system_words(int error = errno) {
  return std::generic_category().message(error);
}

/// The remedy for an error of opening a file, for a message.
[[nodiscard]] inline std::string remedy_for_opening(int error) {
  if (error == EMFILE) {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    return "this process may have " + std::to_string(limit.rlim_cur) +
           " files open at once: raise the limit with `ulimit -n` before it starts";
  }
  if (error == ENFILE)
    return "the system has as many files open as it may: close some, or raise fs.file-max";
  return "check the path and its permissions";
}

/// Owns a file descriptor, or knows why there is none.
class descriptor {
 public:
  /// Takes the result of a call that opens a file.
  explicit descriptor(int number) noexcept : number_{number}, error_{number < 0 ? errno : 0} {}
  /// Opens a file to be read. @param flags Besides: O_NONBLOCK, not to wait for a pipe's writer.
  explicit descriptor(const char* path, int flags = 0) noexcept
      : descriptor{::open(path, O_RDONLY | O_CLOEXEC | flags)} {}
  descriptor(descriptor&& other) noexcept
      : number_{std::exchange(other.number_, -1)}, error_{other.error_} {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  /// Negative: there is none.
  [[nodiscard]] int number() const noexcept { return number_; }
  /// Leaves the descriptor open, for the caller to close.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  /// Why there is none: the system's number, or 0.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// "cannot be opened: …", for a message.
  [[nodiscard]] std::string refusal() const {
    return "cannot be opened: " + system_words(error_) + "; " + remedy_for_opening(error_);
  }

 private:
  int number_;
  int error_;
};

}  // namespace feedline::detail
