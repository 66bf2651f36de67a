#include "python/errors.hpp"

#include <feedline/deadline_error.hpp>

#include "python/bindings.hpp"
#include "python/named.hpp"

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

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
  made.attr("__cause__") = to_python(error.cause());
  return made;
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
  if (outer != nullptr && outer->nested_ptr())
    made.attr("__cause__") = to_python(outer->nested_ptr());
  return made;
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

/// For exceptions from C++ to Python; those that are not feedline's are left to nanobind.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error&) {
  } catch (const carries_python&) {
  }
  const nb::object raised = to_python(thrown);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
}

}  // namespace

void rethrow(nb::python_error& raised, std::uint64_t sample) {
  nb::object origin = nb::borrow(raised.value());
  const std::string words = nb::cast<std::string>(nb::str(origin));
  if (nb::isinstance(origin, error_class("DatasetError"))) {
    const auto named = nb::cast<std::optional<std::uint64_t>>(origin.attr("sample"));
    if (!named) origin.attr("sample") = sample;
    dataset_location where{.path = nb::cast<std::string>(origin.attr("path")),
                           .field = nb::cast<std::string>(origin.attr("field")),
                           .sample = named.value_or(sample)};
    throw python_dataset_error{std::move(where), words, held_object{std::move(origin)}};
  }
  const auto kind = nb::cast<std::string>(raised.type().attr("__name__"));
  throw python_exception{kind + ": " + words, held_object{std::move(origin)}};
}

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator(translate);
}

}  // namespace feedline::python
