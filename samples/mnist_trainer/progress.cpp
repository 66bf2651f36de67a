#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace mnist {
namespace {

constexpr std::uint64_t bar_width = 40;
constexpr auto erase_line = "\r\x1b[K";

}  // namespace

progress_line::progress_line(std::string title, std::uint64_t total)
    : on_terminal_{isatty(STDOUT_FILENO) == 1}, title_{std::move(title)}, total_{total} {}

progress_line::~progress_line() {
  if (!on_terminal_) return;
  std::fputs(erase_line, stdout);
  std::fflush(stdout);
}

void progress_line::show(std::uint64_t done) {
  if (!on_terminal_) return;
  const clock::time_point now = clock::now();
  if (now - drawn_ < std::chrono::milliseconds{100}) return;
  drawn_ = now;
  const auto filled = static_cast<std::size_t>(done * bar_width / total_);
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
  std::printf("%s%s [%s] %3d %%", erase_line, title_.c_str(), bar.c_str(),
              static_cast<int>(done * 100 / total_));
  std::fflush(stdout);
}

}  // namespace mnist
