#pragma once

#include <feedline/error.hpp>

#include "python/held_object.hpp"

#include <stdexcept>
#include <string>

namespace feedline::python {

/// A Python exception on its way through the library: raised by the user's function, with its
/// traceback.
class carries_python {
 public:
  explicit carries_python(held_object raised) : raised_{std::move(raised)} {}
  [[nodiscard]] nb::handle raised() const noexcept { return raised_.get(); }

 private:
  held_object raised_;
};

class python_exception : public std::runtime_error, public carries_python {
 public:
  python_exception(const std::string& message, held_object raised)
      : std::runtime_error{message}, carries_python{std::move(raised)} {}
};

/// A feedline.DatasetError, to which an error policy applies.
class python_dataset_error : public dataset_error, public carries_python {
 public:
  python_dataset_error(dataset_location where, const std::string& message, held_object raised)
      : dataset_error{std::move(where), message}, carries_python{std::move(raised)} {}
};

/// Throws a Python exception as one of the above. Call it with the interpreter's lock.
/// @param sample The sample that was read; a DatasetError that names none gets it.
[[noreturn]] void rethrow(nb::python_error& raised, std::uint64_t sample);

}  // namespace feedline::python
