#include "python/interpreter/held_object.hpp"

#include "python/interpreter/bindings.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace feedline::python {
namespace {

/// `_Held`, the Python object.
struct held_reporter {
  std::shared_ptr<held_objects> objects;
};

int traverse_held(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<held_reporter>(self)->objects->report_to(visit, arg)
                              : 0;
}

void finalize_held(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<held_reporter>(self)->objects->end_calls();
}

PyType_Slot reporter_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_held)},
                                {Py_tp_finalize, reinterpret_cast<void*>(&finalize_held)},
                                {0, nullptr}};

}  // namespace

held_object::held_object(nb::object object, held_objects& among) : is_garbage_{among.is_garbage_} {
  auto reference = std::make_shared<std::atomic<PyObject*>>(object.ptr());
  {
    const std::scoped_lock lock{among.adds_};
    auto& all = among.references_;
    std::erase_if(all, [](const auto& each) { return *each == nullptr; });
    all.push_back(reference);
  }
  (void)object.release();
  // The list's share outlives the reference, which is reported until this thread has the lock.
  reference_ = {reference.get(), [reference](std::atomic<PyObject*>* held) {
                  if (!can_lock()) return;
                  const interpreter_lock lock;
                  Py_XDECREF(held->exchange(nullptr));
                }};
}

nb::object held_object::for_call() const {
  if (is_garbage_ && *is_garbage_)
    throw std::runtime_error{
        "a dataset's function was not called: Python's garbage collector has "
        "found the dataset and its loaders to be garbage"};
  return nb::borrow(get());
}

nb::object held_objects::make() {
  return nb::cast(held_reporter{std::make_shared<held_objects>()});
}

const std::shared_ptr<held_objects>& held_objects::of(nb::handle made) {
  return nb::inst_ptr<held_reporter>(made)->objects;
}

int held_objects::report_to(visitproc visit, void* arg) const {
  for (const auto& each : references_) Py_VISIT(each->load());
  return 0;
}

void add(holds& to, const holds& more) {
  for (const nb::object& each : more)
    if (std::ranges::none_of(to, [&](const nb::object& has) { return has.is(each); }))
      to.push_back(each);
}

void bind_held_objects(nb::module_& module) {
  (void)nb::class_<held_reporter>(
      module, "_Held", nb::type_slots(reporter_slots),
      "Python objects that a dataset holds, for the garbage collector.");
}

}  // namespace feedline::python
