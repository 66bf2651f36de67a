#include "programs/convert/progress_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace convert {
namespace {

constexpr auto erase_line = "\r\x1b[K";

const char* word_of(step now) {
  switch (now) {
    case step::checking:
      return "checking what is there";
    case step::writing:
      return "writing";
    case step::verifying:
      return "reading back";
  }
  return "";
}

}  // namespace

progress_line::progress_line() : on_terminal_{isatty(STDOUT_FILENO) == 1} {}

progress_line::~progress_line() {
  erase();
}

void progress_line::show(step now, std::uint64_t done, std::uint64_t samples) {
  if (!on_terminal_) return;
  const clock::time_point time = clock::now();
  if (now != step_ || done < begun_at_) {
    step_ = now;
    begun_at_ = done;
    begun_ = time;
  }
  if (time - drawn_ < std::chrono::milliseconds{100}) return;
  drawn_ = time;
  const double seconds = std::chrono::duration<double>(time - begun_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - begun_at_) / seconds : 0;
  std::printf("%s%s: %llu of %llu samples, %3.0f %%, %.0f a second", erase_line, word_of(now),
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(samples),
              100 * static_cast<double>(done) / static_cast<double>(samples), rate);
  std::fflush(stdout);
}

void progress_line::erase() {
  if (!on_terminal_) return;
  std::fputs(erase_line, stdout);
  std::fflush(stdout);
}

}  // namespace convert
