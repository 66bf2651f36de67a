#pragma once

#include <fcntl.h>
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

/// Owns a file descriptor, or knows why there is none.
class descriptor {
 public:
  /// Takes what a call returned.
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
  /// "cannot be opened: …", for a message.
  [[nodiscard]] std::string refusal() const {
    return "cannot be opened: " + system_words(error_) + "; check the path and its permissions";
  }

 private:
  int number_;
  int error_;
};

}  // namespace feedline::detail
