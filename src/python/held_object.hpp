#pragma once

#include <memory>

#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;

/// A Python object held by C++: any thread may copy and release it, with the interpreter's lock or
/// without it. Once the interpreter has ended, the object is not released.
class held_object {
 public:
  held_object() = default;
  /// Takes the lock's holder's word for it: to be called with the lock.
  explicit held_object(nb::object object);

  /// Borrowed; to be used with the lock.
  [[nodiscard]] nb::handle get() const noexcept { return object_.get(); }
  /// For an owner of bytes that belong to the object.
  [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return object_; }

 private:
  std::shared_ptr<PyObject> object_;
};

/// Calls a function without the interpreter's lock, so that other Python threads, and readers that
/// call Python, continue meanwhile.
template <class Function>
decltype(auto) unlocked(Function&& function) {
  const nb::gil_scoped_release release;
  return std::forward<Function>(function)();
}

}  // namespace feedline::python
