#include "python/errors.hpp"

#include <feedline/deadline_error.hpp>

#include "dataset/foreign_error.hpp"
#include "python/bindings.hpp"
#include "python/named.hpp"

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

nb::object error_class(const char* name) {
  return nb::module_::import_("feedline._errors").attr(name);
}

nb::object number(std::optional<std::uint64_t> value) {
  return value ? nb::object{nb::int_(*value)} : nb::object{nb::none()};
}

nb::object make(const char* name, const std::exception& error) {
  return error_class(name)(text(error.what()));
}

nb::object to_python(const std::exception_ptr& thrown);

/// Whether an exception ends the program or thread: KeyboardInterrupt, SystemExit, a coroutine's
/// cancellation. No other exception may replace it, because `except Exception` would stop it.
bool ends_all(nb::handle raised) {
  return PyErr_GivenExceptionMatches(raised.ptr(), PyExc_Exception) == 0;
}

/// @return The error, with its cause; or a cause that ends all.
nb::object caused(nb::object made, const std::exception_ptr& by) {
  nb::object cause = to_python(by);
  if (ends_all(cause)) return cause;
  made.attr("__cause__") = std::move(cause);
  return made;
}

nb::object of_dataset(const char* name, const dataset_error& error) {
  nb::object made = make(name, error);
  made.attr("message") = text(error.message());
  made.attr("path") = text(error.path());
  made.attr("field") = text(error.field());
  made.attr("sample") = number(error.sample());
  made.attr("offset") = number(error.offset());
  return made;
}

nb::object of_stage(const stage_error& error) {
  nb::object made = make("StageError", error);
  const stage_location& where = error.where();
  made.attr("stage") = text(to_string(where.stage));
  made.attr("epoch") = where.epoch;
  made.attr("batch") = where.batch;
  made.attr("ticket") = where.ticket;
  made.attr("sample") = number(where.sample);
  made.attr("path") = text(where.path);
  return caused(std::move(made), error.cause());
}

nb::object of_deadline(const deadline_error& error) {
  nb::object made = make("DeadlineError", error);
  made.attr("epoch") = error.where().epoch;
  made.attr("batch") = error.where().batch;
  made.attr("waited") = std::chrono::duration<double>{error.where().waited}.count();
  made.attr("sample") = number(error.where().sample);
  return made;
}

nb::object of_memory(const out_of_memory& error) {
  nb::object made = make("OutOfMemory", error);
  made.attr("bytes") = error.bytes();
  made.attr("kind") = text(to_string(error.kind()));
  return made;
}

nb::object of_cuda(const cuda_error& error) {
  nb::object made = make("CudaError", error);
  made.attr("code") = error.code();
  return made;
}

nb::object with_cause(nb::object made, const std::exception& error) {
  const auto* const outer = dynamic_cast<const std::nested_exception*>(&error);
  if (outer == nullptr || !outer->nested_ptr()) return made;
  return caused(std::move(made), outer->nested_ptr());
}

nb::object to_python(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const carries_python& origin) {
    return nb::borrow(origin.raised());
  } catch (const stage_error& error) {
    return of_stage(error);
  } catch (const deadline_error& error) {
    return of_deadline(error);
  } catch (const out_of_memory& error) {
    return of_memory(error);
  } catch (const cuda_error& error) {
    return of_cuda(error);
  } catch (const device_error& error) {
    return with_cause(make("DeviceError", error), error);
  } catch (const hdf5_error& error) {
    return with_cause(of_dataset("Hdf5Error", error), error);
  } catch (const dataset_error& error) {
    return with_cause(of_dataset("DatasetError", error), error);
  } catch (const thread_error& error) {
    return with_cause(make("ThreadError", error), error);
  } catch (const usage_error& error) {
    return with_cause(make("UsageError", error), error);
  } catch (const error& error) {
    return with_cause(make("Error", error), error);
  } catch (const std::bad_alloc& error) {
    return nb::handle{PyExc_MemoryError}(text(error.what()));
  } catch (const std::exception& error) {
    return with_cause(nb::handle{PyExc_RuntimeError}(text(error.what())), error);
  } catch (...) {
    return nb::handle{PyExc_RuntimeError}(text("an exception that is no std::exception"));
  }
}

void raise(nb::handle exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

/// str(), or nothing if the exception's own function for it raises.
std::string words_of(nb::handle raised) {
  PyObject* const words = PyObject_Str(raised.ptr());
  if (words == nullptr) PyErr_Clear();
  std::string text;
  return words != nullptr && nb::try_cast(nb::steal(words), text) ? text : "";
}

/// Throws the first one of a chain of exceptions. Call it in the handler of the last one.
[[noreturn]] void rethrow_innermost(const dataset_error& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const dataset_error& inner) {
    rethrow_innermost(inner);
  }
  throw;
}

/// For exceptions from C++ to Python; those that are not feedline's are left to nanobind.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error&) {
  } catch (const carries_python&) {
  }
  raise(to_python(thrown));
}

}  // namespace

void rethrow(nb::python_error& raised, std::optional<std::uint64_t> sample, held_objects& held) {
  nb::object origin = nb::borrow(raised.value());
  const std::string words = words_of(origin);
  if (nb::isinstance(origin, error_class("DatasetError"))) {
    const auto named = nb::cast<std::optional<std::uint64_t>>(origin.attr("sample"));
    if (!named && sample) origin.attr("sample") = *sample;
    dataset_location where{.path = nb::cast<std::string>(origin.attr("path")),
                           .field = nb::cast<std::string>(origin.attr("field")),
                           .sample = named ? named : sample};
    throw python_dataset_error{std::move(where), words, held_object{std::move(origin), held}};
  }
  const auto kind = nb::cast<std::string>(raised.type().attr("__name__"));
  const bool interrupts = ends_all(origin);
  python_exception made{kind + ": " + words, held_object{std::move(origin), held}};
  if (interruption* const call = interruption::current(); call != nullptr && interrupts)
    call->raised_ = made;
  if (interrupts || !sample) throw made;
  try {
    throw made;
  } catch (const python_exception&) {
    std::throw_with_nested(
        detail::foreign_error{{.path = {}, .field = {}, .sample = sample},
                              std::string{"the dataset's read threw: "} + made.what()});
  }
}

void rethrow_as_raised() {
  if (detail::is_of_data(std::current_exception())) throw;
  try {
    throw;
  } catch (const dataset_error& error) {
    rethrow_innermost(error);
  }
}

bool ends_all(const std::exception_ptr& thrown) {
  return ends_all(to_python(thrown));
}

interruption::interruption() noexcept : outer_{std::exchange(current(), this)} {}

interruption::~interruption() {
  current() = outer_;
}

interruption*& interruption::current() noexcept {
  thread_local interruption* call = nullptr;
  return call;
}

void interruption::rethrow_if_any() {
  if (const interruption* const call = current(); call != nullptr && call->is_any())
    throw *call->raised_;
}

void interruption::raise_if_any() const {
  if (!is_any()) return;
  raise(raised_->raised());
  nb::raise_python_error();
}

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator(translate);
}

}  // namespace feedline::python
