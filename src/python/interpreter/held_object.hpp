#pragma once

#include "python/interpreter/lock.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <nanobind/nanobind.h>

namespace feedline::python {

class held_objects;

/// A Python object held by C++: any thread may copy and release it, with the interpreter's lock or
/// without it. Once the interpreter has ended, the object is not released.
class held_object {
 public:
  held_object() = default;
  /// Called with the lock.
  /// @param among Lets the garbage collector see the reference.
  held_object(nb::object object, held_objects& among);

  [[nodiscard]] bool empty() const noexcept { return !reference_; }
  /// Borrowed; to be used with the lock, and not to be called.
  [[nodiscard]] nb::handle get() const noexcept {
    return reference_ ? reference_->load() : nullptr;
  }
  /// For a call: while the result lives, the collector does not take the object for garbage. Called
  /// with the lock.
  /// @throws std::runtime_error if the collector has found it to be garbage: it may be cleared.
  [[nodiscard]] nb::object for_call() const;
  /// For an owner of bytes that belong to the object.
  [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return reference_; }

 private:
  std::shared_ptr<std::atomic<PyObject*>> reference_;
  std::shared_ptr<const std::atomic<bool>> is_garbage_;
};

/// The Python objects that a dataset's C++ holds: what its functions, arrays and exceptions are.
/// This is how Python's garbage collector finds cycles through C++, such as an object whose method
/// reads the samples of its own loader.
///
/// One Python object, a `_Held`, reports these references to the collector. It may do so because
/// nothing but Python objects that hold the `_Held` uses the C++ objects: the Dataset, all Datasets
/// composed of it, and their Loaders. If the collector finds all of these unreachable, so are the
/// references. A reference is reported once, by the `_Held` alone, however many objects share it.
/// Where C++ outlives the `_Held`, nothing is reported, and the objects live until C++ is done.
///
/// None of these classes has a `tp_clear`. Like a tuple, each is made of objects that existed
/// before it, so every cycle has a younger reference elsewhere, which the collector clears.
///
/// Readers may still run then. `tp_finalize`, which the collector calls before it clears anything,
/// ends calls: a function that lost its closure must not be called.
///
/// Threads that add objects share it: without the interpreter's lock they would run side by side.
class held_objects {
 public:
  /// To be stored by all Python objects whose C++ uses these.
  [[nodiscard]] static nb::object make();
  /// @param made A result of `make`.
  [[nodiscard]] static const std::shared_ptr<held_objects>& of(nb::handle made);

  /// Calls a visitor of the garbage collector for each object that is still held. The collector
  /// has stopped all threads that could add one.
  int report_to(visitproc visit, void* arg) const;

  /// The collector has found them to be garbage: none of them is called any more.
  void end_calls() noexcept { *is_garbage_ = true; }

 private:
  friend class held_object;
  std::mutex adds_;  ///< never held while Python runs
  /// Null pointers once they are released.
  std::vector<std::shared_ptr<std::atomic<PyObject*>>> references_;
  const std::shared_ptr<std::atomic<bool>> is_garbage_ = std::make_shared<std::atomic<bool>>(false);
};

/// The `_Held`s that an object of Python stores for the C++ objects that it uses, without
/// duplicates. Copied with the interpreter's lock.
using holds = std::vector<nb::object>;
void add(holds& to, const holds& more);

/// `tp_traverse` for a class whose C++ objects have a function `for_collector`, which calls a
/// function with each Python object that is stored.
template <class Object>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (PyObject** const attributes = _PyObject_GetDictPtr(self); attributes != nullptr)
    Py_VISIT(*attributes);
  if (!nb::inst_ready(self)) return 0;
  int result = 0;
  nb::inst_ptr<Object>(self)->for_collector([&](nb::handle each) {
    if (result == 0 && each.ptr() != nullptr) result = visit(each.ptr(), arg);
  });
  return result;
}
template <class Object>
inline PyType_Slot collected[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<Object>)},
                                  {0, nullptr}};

}  // namespace feedline::python
