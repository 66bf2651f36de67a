/// A process of its own for each case of `sigbus_guard_test.cpp`: who handled SIGBUS before the
/// guard, and what happens then. Its exit status, or the signal that ends it, is the answer.

#include <feedline/io/map_files.hpp>

#include "io/local/file.hpp"
#include "io/local/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <dlfcn.h>

namespace {

using feedline::detail::file_access;
using feedline::detail::local_file;

constexpr int by_plain_handler = 41;
constexpr int by_detailed_handler = 42;
constexpr int wrong = 1;

const volatile char* foreign_page = nullptr;

void plain(int number) {
  ::_exit(number == SIGBUS ? by_plain_handler : wrong);
}

/// The mask that the handler below asks for.
bool all_signals_are_blocked() {
  sigset_t blocked{};
  if (::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0) return false;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (::sigismember(&blocked, signal) != 1) return false;
  return true;
}

void detailed(int number, siginfo_t* info, void* context) {
  const bool fault = info->si_code == BUS_ADRERR && info->si_addr == foreign_page;
  const bool sent = info->si_code <= 0 && info->si_pid == ::getpid();
  ::_exit(number == SIGBUS && context != nullptr && (fault || sent) && all_signals_are_blocked()
              ? by_detailed_handler
              : wrong);
}

void handle_bus_errors(std::string_view how) {
  struct sigaction action {};
  action.sa_handler = how == "ignore" ? SIG_IGN : SIG_DFL;
  if (how == "plain") action.sa_handler = plain;
  if (how == "detailed") {
    action.sa_sigaction = detailed;
    action.sa_flags = SA_SIGINFO;
    ::sigfillset(&action.sa_mask);
  }
  if (::sigaction(SIGBUS, &action, nullptr) != 0) std::abort();
}

/// A file in memory, of one page; a hole would not be in memory.
int one_page() {
  const int file = ::memfd_create("page", MFD_CLOEXEC);
  if (::ftruncate(file, 4096) != 0 || ::pwrite(file, "x", 1, 4095) != 1) std::abort();
  return file;
}

/// The path of such a file, which stays open.
std::string path_of_page() {
  return "/proc/self/fd/" + std::to_string(one_page());
}

/// A copy of the library that guards a file of its own, loaded as a plugin.
class other_copy {
 public:
  explicit other_copy(const char* path) : library_{::dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
    if (library_ == nullptr || !function<bool(int, std::size_t)>("copy_guards")(file_, 4096))
      std::abort();
  }
  [[nodiscard]] bool in_use() const { return function<bool()>("copy_is_in_use")(); }
  /// Unloads the library, like the end of a plugin. False if the system refuses.
  [[nodiscard]] bool close() const { return ::dlclose(library_) == 0; }
  [[nodiscard]] bool survives_cut() const {
    return ::ftruncate(file_, 0) == 0 && function<bool()>("copy_reads_lost_zero")();
  }

 private:
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) std::abort();
    return reinterpret_cast<Function*>(found);
  }

  void* library_;
  int file_ = one_page();
};

/// Other copies of the library come, and this one knows what that means.
bool copies_get_along(std::string_view event, std::string_view before) {
  using feedline::detail::file_mapping;
  const local_file rows{path_of_page(), file_access::automatic, std::chrono::nanoseconds{0}};
  if (rows.mapped().empty()) return false;
  if (event == "copy behind another") handle_bus_errors(before);
  const other_copy second{FEEDLINE_BUS_GUARD_COPY_1};
  const other_copy third{FEEDLINE_BUS_GUARD_COPY_2};
  rows.require_unchanged();
  const bool reached = event != "copy behind another";
  return file_mapping::handler_in_use() == reached && rows.mapped().empty() != reached &&
         second.in_use() && third.in_use() && second.survives_cut() && third.survives_cut();
}

/// A copy that stood in front of this one was closed, and this one continues as before.
bool closed_copy_is_survived() {
  const other_copy second{FEEDLINE_BUS_GUARD_COPY_1};
  return second.close() && feedline::detail::file_mapping::handler_in_use();
}

/// Without mappings there is no handler. With them the same file is mapped, and there is one.
bool is_left_alone() {
  const auto is_mapped = [](bool allowed) {
    feedline::map_files(allowed);
    const local_file rows{path_of_page(), file_access::automatic, std::chrono::nanoseconds{0}};
    std::byte last{};
    rows.read(4095, {&last, 1});
    return last == std::byte{'x'} && !rows.mapped().empty();
  };
  const auto has_handler = [] {
    struct sigaction now {};
    return ::sigaction(SIGBUS, nullptr, &now) == 0 && now.sa_handler != SIG_DFL;
  };
  return !is_mapped(false) && !has_handler() && is_mapped(true) && has_handler();
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
/// foreign, ended, sent, later, not mapped, or one that names a copy).
int main(int count, char** arguments) {
  if (count != 3) return wrong;
  const std::string_view event = arguments[2];
  handle_bus_errors(arguments[1]);
  if (event == "not mapped") return is_left_alone() ? 0 : wrong;
  const int file = ::memfd_create("guarded", MFD_CLOEXEC);
  if (::ftruncate(file, 4096) != 0) return wrong;
  auto mapping = feedline::detail::file_mapping::of(file, 4096);
  if (!mapping || !feedline::detail::file_mapping::handler_in_use()) return wrong;
  const volatile std::byte* const first = mapping->bytes().data();
  foreign_page = empty_page();
  if (::ftruncate(file, 0) != 0) return wrong;

  if (event == "guarded") return *first == std::byte{0} && mapping->lost() ? 0 : wrong;
  if (event == "foreign") return *foreign_page;
  if (event == "sent") return ::raise(SIGBUS);
  if (event == "ended") {  // the address belongs to another file now
    mapping.reset();
    foreign_page = static_cast<const char*>(
        ::mmap(const_cast<std::byte*>(first), 4096, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0));
    return *foreign_page;
  }
  if (event == "copy")
    return copies_get_along(event, arguments[1]) && *first == std::byte{0} ? 0 : wrong;
  if (event == "copy, foreign")
    return copies_get_along(event, arguments[1]) ? *foreign_page : wrong;
  if (event == "closed copy")
    return closed_copy_is_survived() && *first == std::byte{0} ? 0 : wrong;
  if (event == "closed copy, foreign") return closed_copy_is_survived() ? *foreign_page : wrong;
  if (event == "copy behind another") return copies_get_along(event, arguments[1]) ? 0 : wrong;
  if (event == "later") {
    const local_file rows{path_of_page(), file_access::automatic, std::chrono::nanoseconds{0}};
    if (rows.mapped().empty()) return wrong;
    struct sigaction ours {};
    if (::sigaction(SIGBUS, nullptr, &ours) != 0) return wrong;
    handle_bus_errors(arguments[1]);
    rows.require_unchanged();
    if (!rows.mapped().empty() || feedline::detail::file_mapping::handler_in_use()) return wrong;
    if (::sigaction(SIGBUS, &ours, nullptr) != 0) return wrong;
    rows.require_unchanged();
    return !rows.mapped().empty() && feedline::detail::file_mapping::handler_in_use() ? 0 : wrong;
  }
  return wrong;
}
