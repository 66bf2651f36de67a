#pragma once

#include "python/interpreter/held_object.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace feedline::python {

/// Runs a function in another thread, without the interpreter's lock, until it ends or a signal's
/// handler raises (Ctrl-C). Then it returns at once, and the function ends by itself later; the
/// interpreter's exit waits for it, 1.5 seconds at most. Threads that get no signals run it
/// directly.
/// @param work Owns all that it uses, because it may outlive the caller, and no Python object.
/// @throws what the function throws; nb::python_error of a signal's handler.
void run_interruptibly(std::function<void()> work);

/// The same for a function with a result.
template <class Function>
auto interruptible(Function work) {
  const auto result = std::make_shared<std::optional<std::invoke_result_t<Function>>>();
  run_interruptibly([result, work = std::move(work)] { result->emplace(work()); });
  return std::move(**result);
}

}  // namespace feedline::python
