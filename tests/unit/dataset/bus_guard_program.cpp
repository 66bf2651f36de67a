/// A process of its own for each case of `bus_guard_test.cpp`: who handled SIGBUS before the guard,
/// and what happens then. Its exit status, or the signal that ends it, is the answer.

#include "dataset/file_mapping.hpp"
#include "dataset/random_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

using feedline::detail::random_file;

constexpr int by_plain_handler = 41;
constexpr int by_detailed_handler = 42;
constexpr int wrong = 1;

const volatile char* foreign_page = nullptr;

void plain(int number) {
  ::_exit(number == SIGBUS ? by_plain_handler : wrong);
}

void detailed(int number, siginfo_t* info, void* context) {
  const bool fault = info->si_code == BUS_ADRERR && info->si_addr == foreign_page;
  const bool sent = info->si_code <= 0 && info->si_pid == ::getpid();
  ::_exit(number == SIGBUS && context != nullptr && (fault || sent) ? by_detailed_handler : wrong);
}

void handle_bus_errors(std::string_view how) {
  struct sigaction action {};
  action.sa_handler = how == "ignore" ? SIG_IGN : SIG_DFL;
  if (how == "plain") action.sa_handler = plain;
  if (how == "detailed") {
    action.sa_sigaction = detailed;
    action.sa_flags = SA_SIGINFO;
  }
  if (::sigaction(SIGBUS, &action, nullptr) != 0) std::abort();
}

/// A page of a file that has no bytes, and no guard.
const volatile char* empty_page() {
  const int file = ::memfd_create("foreign", MFD_CLOEXEC);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) std::abort();
  return static_cast<const char*>(page);
}

}  // namespace

/// Arguments: who handled it before (default, ignore, plain, detailed), what happens (guarded,
/// foreign, ended, sent, later).
int main(int count, char** arguments) {
  if (count != 3) return wrong;
  const std::string_view event = arguments[2];
  handle_bus_errors(arguments[1]);
  const int file = ::memfd_create("guarded", MFD_CLOEXEC);
  if (::ftruncate(file, 4096) != 0) return wrong;
  auto mapping = feedline::detail::file_mapping::of(file, 4096);
  if (!mapping || !feedline::detail::bus_guard::in_use()) return wrong;
  const volatile std::byte* const first = mapping->bytes().data();
  foreign_page = empty_page();
  if (::ftruncate(file, 0) != 0) return wrong;

  if (event == "guarded") return *first == std::byte{0} && mapping->lost() ? 0 : wrong;
  if (event == "foreign") return *foreign_page;
  if (event == "sent") return ::raise(SIGBUS);
  if (event == "ended") {  // the place in memory is another file's now
    mapping.reset();
    foreign_page = static_cast<const char*>(
        ::mmap(const_cast<std::byte*>(first), 4096, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0));
    return *foreign_page;
  }
  if (event == "later") {
    if (::pwrite(file, "x", 1, 4095) != 1) return wrong;  // a hole is not in memory
    const random_file rows{file, {}, random_file::access::automatic, std::chrono::nanoseconds{0}};
    if (rows.mapped().empty()) return wrong;
    handle_bus_errors(arguments[1]);
    rows.require_unchanged();
    return rows.mapped().empty() && !feedline::detail::bus_guard::in_use() ? 0 : wrong;
  }
  return wrong;
}
