// Over 250 lines: all that guards reads of mapped memory against SIGBUS stands together.

#include "io/local/mapping.hpp"

#include "detail/keep_loaded.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <limits>
#include <mutex>
#include <new>
#include <optional>

namespace feedline::detail {
namespace {

// How several copies of feedline in one process (say, in two plugins) share SIGBUS. Each copy has a
// handler, which passes signals that are not for it to the handler before it. So a copy whose
// handler is not the first one any more may still be reached, and asks whether it is.
//
// A handler is known as feedline's by its mark: the set of real-time signals that it blocks while
// it runs. Marked handlers can be called with a question instead of a signal. Mark and question are
// the same in all versions.
//
// Async-signal-safe.
using bus_handler = void (*)(int, siginfo_t*, void*);

/// Bit i: whether signal `first_signal + i` is blocked. Other programs block either all or none of
/// them.
constexpr std::uint32_t pattern = 0x9A5'E3D7;
constexpr int pattern_bits = 28;
constexpr int first_signal = 35;  // the C library keeps the real-time signals 32 and 33 for itself

/// No si_code of the system's, and with a null context, which no signal has.
constexpr int question_code = 0x6665'6564;

struct question {
  bus_handler wanted;
  bool reached;
};

bool is_in_pattern(int bit) noexcept {
  return (pattern >> bit & 1) != 0;
}

bool is_marked(const sigset_t& mask) noexcept {
  for (int bit = 0; bit < pattern_bits; ++bit)
    if ((::sigismember(&mask, first_signal + bit) == 1) != is_in_pattern(bit)) return false;
  return true;
}

/// Puts the mark into a handler's signal mask.
void mark_bus_handler(sigset_t& mask) noexcept {
  for (int bit = 0; bit < pattern_bits; ++bit)
    (void)(is_in_pattern(bit) ? ::sigaddset : ::sigdelset)(&mask, first_signal + bit);
}

/// Whether a SIGBUS given to `first` reaches `wanted`, if no handler in between handles it. False
/// if that cannot be known, which is the case after a handler that is not feedline's.
bool reaches(const struct sigaction& first, bus_handler wanted) noexcept {
  if ((first.sa_flags & SA_SIGINFO) == 0) return false;
  if (first.sa_sigaction == wanted) return true;
  if (!is_marked(first.sa_mask)) return false;
  question asked{wanted, false};
  siginfo_t info{};
  info.si_signo = SIGBUS;
  info.si_code = question_code;
  info.si_addr = &asked;
  first.sa_sigaction(SIGBUS, &info, nullptr);
  return asked.reached;
}

/// For a marked handler, with the arguments that it was called with and the handler before it: true
/// if the call was a question, not a signal; then it is answered.
bool answer_question(const siginfo_t* info, const void* context,
                     const struct sigaction& before) noexcept {
  if (context != nullptr || info->si_code != question_code) return false;
  question& asked = *static_cast<question*>(info->si_addr);
  asked.reached = reaches(before, asked.wanted);
  return true;
}

/// Files mapped at once; beyond it they are read by calls. A process may have 65,530 mappings by
/// default (vm.max_map_count), and the program, its memory and CUDA need most of them.
constexpr std::size_t max_guards = 4096;

/// A guarded mapping. The handler reads it while others may be writing it; it may neither wait nor
/// see half of a change, so `version` is odd during one, and differs after it. What changes is
/// never the mapping that faulted: that one is being read, so it stays.
struct guarded {
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};  ///< 0: free
  std::atomic<bool> lost{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

// Statics, which this library avoids: a signal has one handler in a process, and that handler finds
// its data only at fixed addresses. They need no construction and no destruction.
constinit std::array<guarded, max_guards> table{};
constinit std::atomic<std::size_t> table_end{0};  ///< entries from here on were never used
constinit std::atomic<std::size_t> guards{0};     ///< entries in use
constinit std::mutex changing;                    ///< guards table and handler; the handler does
                                                  ///< not lock it
constinit std::atomic<bool> installed{false};
struct sigaction before_ours {};  ///< written before the handler is installed

void set(guarded& place, std::uintptr_t begin, std::uintptr_t end) noexcept {
  ++place.version;
  place.begin = begin;
  place.end = end;
  place.lost = false;
  ++place.version;
}

/// Calls the kernel directly: the function that sanitizers put instead of `mmap` is not made for
/// signal handlers.
bool map_zeros(std::uintptr_t begin, std::uintptr_t end) noexcept {
  static_assert(sizeof(void*) == 8, "a 32-bit system has another call");
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return ::syscall(SYS_mmap, begin, end - begin, PROT_READ, flags, -1, 0L) ==
         static_cast<long>(begin);
}

/// Replaces the mapping that holds an address by zeros. False if it is no guarded one.
bool replace(std::uintptr_t address) noexcept {
  const std::size_t places = table_end;
  for (std::size_t i = 0; i < places; ++i) {
    guarded& place = table[i];
    const std::uint32_t version = place.version;
    const std::uintptr_t begin = place.begin;
    const std::uintptr_t end = place.end;
    if (address < begin || address >= end || version % 2 != 0 || version != place.version) continue;
    place.lost = true;  // first: a thread that reads the zeros must find it set
    // All of it, not a page: else a run of rows from a cut file is a signal a page. Atomic for
    // other readers; idempotent for those that fault at the same time.
    return map_zeros(begin, end);
  }
  return false;
}

/// Does what would have happened without this handler.
void pass_on(int number, siginfo_t* info, void* context) noexcept {
  const auto handler = before_ours.sa_handler;  // shares its memory with sa_sigaction
  const bool sent = info->si_code <= 0;         // sent by a program, not raised by an instruction
  if (handler != SIG_DFL && handler != SIG_IGN) {
    // Our own mask has the mark instead of the signals that this handler asked to block. The system
    // restores the mask when we return.
    (void)::pthread_sigmask(SIG_BLOCK, &before_ours.sa_mask, nullptr);
    if ((before_ours.sa_flags & SA_SIGINFO) != 0)
      before_ours.sa_sigaction(number, info, context);
    else
      handler(number);
    return;
  }
  if (sent && handler == SIG_IGN) return;
  // The instruction faults again on return, and ends the process with its own address and
  // registers. (The system ignores SIG_IGN for it too.)
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGBUS, &standard, nullptr);
  if (sent) (void)::raise(SIGBUS);  // delivered on return
}

/// Async-signal-safe: lock-free atomics, sigaction, pthread_sigmask, raise, a system call.
void on_bus_error(int number, siginfo_t* info, void* context) noexcept {
  if (answer_question(info, context, before_ours)) return;
  const int saved = errno;
  const bool ours =
      info->si_code == BUS_ADRERR && replace(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (!ours) pass_on(number, info, context);
}

/// With `changing` held.
bool install() noexcept {
  if (installed) return true;
  if (::sigaction(SIGBUS, nullptr, &before_ours) != 0) return false;
  struct sigaction ours {};
  ours.sa_sigaction = on_bus_error;
  ours.sa_mask = before_ours.sa_mask;
  mark_bus_handler(ours.sa_mask);
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before_ours.sa_flags & (SA_RESTART | SA_NODEFER));
  installed = ::sigaction(SIGBUS, &ours, nullptr) == 0;
  return installed;
}

void unguard(std::size_t place) noexcept {
  const std::scoped_lock lock{changing};
  set(table[place], 0, 0);
  --guards;
}

/// Guards a mapping that begins at a page's start. @return Its index in the table, if there is
/// room.
std::optional<std::size_t> guard(std::span<const std::byte> bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (!installed.load()) keep_loaded();  // unlocked: it takes the loader's lock
  const std::scoped_lock lock{changing};
  if (!install()) return std::nullopt;
  for (std::size_t i = 0; i < max_guards; ++i) {
    if (table[i].end != 0) continue;
    set(table[i], first, first + (bytes.size() + page - 1) / page * page);
    if (i >= table_end) table_end = i + 1;
    ++guards;
    return i;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<const file_mapping> file_mapping::of(int descriptor, std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  if (guards.load() == max_guards) return nullptr;  // it would be mapped in vain
  const auto length = static_cast<std::size_t>(bytes);
  void* const address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return nullptr;
  // Samples come in random order: a fault should not read in the surrounding bytes (8 MiB on some
  // disks).
  (void)::madvise(address, length, MADV_RANDOM);
  const std::span mapped{static_cast<const std::byte*>(address), length};
  if (const auto place = guard(mapped)) {
    if (auto* const made = new (std::nothrow) file_mapping{mapped, *place})
      return std::unique_ptr<const file_mapping>{made};
    unguard(*place);
  }
  ::munmap(address, length);
  return nullptr;
}

// The guard first: afterwards the mapping's addresses may be given to another mapping.
file_mapping::~file_mapping() {
  unguard(guard_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool file_mapping::lost() const noexcept {
  return table[guard_].lost;
}

bool file_mapping::handler_in_use() noexcept {
  struct sigaction current {};
  return ::sigaction(SIGBUS, nullptr, &current) == 0 && reaches(current, on_bus_error);
}

}  // namespace feedline::detail
