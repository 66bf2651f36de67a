#pragma once

#include <csignal>

namespace feedline::detail {

/// How several copies of feedline in one process (say, in two plugins) get along with SIGBUS. Each
/// copy has a handler, which passes on what it does not know to the handler before it. So a copy
/// whose handler is not the first one any more may still be reached, and asks whether it is.
///
/// A handler is known as feedline's by its mark: which real-time signals it blocks while it runs.
/// Marked handlers can be called with a question in the place of a signal. Mark and question are
/// the same in all versions.
///
/// Async-signal-safe.
using bus_handler = void (*)(int, siginfo_t*, void*);

/// Puts the mark into a handler's signal mask.
void mark_bus_handler(sigset_t& mask) noexcept;

/// Whether a SIGBUS that goes to `first` comes to `wanted`, if nobody on the way handles it. False
/// where that cannot be known, which is so behind a handler that is not feedline's.
[[nodiscard]] bool reaches(const struct sigaction& first, bus_handler wanted) noexcept;

/// For a marked handler, with what it was called with and the handler before it: true if that was
/// no signal but a question, which is answered now.
[[nodiscard]] bool answer_question(const siginfo_t* info, const void* context,
                                   const struct sigaction& before) noexcept;

}  // namespace feedline::detail
