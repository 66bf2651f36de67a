#include "io/sigbus_handler_mark.hpp"

#include <cstdint>

namespace feedline::detail {
namespace {

/// Bit i: whether signal `first_signal + i` is blocked. Neither all nor none of them, as others do.
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

}  // namespace

void mark_bus_handler(sigset_t& mask) noexcept {
  for (int bit = 0; bit < pattern_bits; ++bit) {
    if (is_in_pattern(bit))
      (void)::sigaddset(&mask, first_signal + bit);
    else
      (void)::sigdelset(&mask, first_signal + bit);
  }
}

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

bool answer_question(const siginfo_t* info, const void* context,
                     const struct sigaction& before) noexcept {
  if (context != nullptr || info->si_code != question_code) return false;
  question& asked = *static_cast<question*>(info->si_addr);
  asked.reached = reaches(before, asked.wanted);
  return true;
}

}  // namespace feedline::detail
