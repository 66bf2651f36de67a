#pragma once

#include <feedline/error.hpp>

#include "python/interpreter/held_object.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

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

/// Throws a Python exception as one of the above: one that is an Exception, but no DatasetError, is
/// nested in an error that names the sample, to which no policy applies. Call it with the
/// interpreter's lock.
/// @param sample The sample that was read, if one was; a DatasetError that names none gets it.
/// @param held Those of the dataset or sampler that called Python.
[[noreturn]] void rethrow(nb::python_error& raised, std::optional<std::uint64_t> sample,
                          held_objects& held);

/// Throws the exception of a read again, for a caller who asked for the samples: as the user's
/// function raised it. Call it in a handler.
[[noreturn]] void rethrow_as_raised();

/// Whether what reaches Python is no Exception, such as KeyboardInterrupt. Called with the lock.
[[nodiscard]] bool ends_all(const std::exception_ptr& thrown);

/// While it exists, reads in this thread are for a call of the user's. An exception that is no
/// Exception, such as KeyboardInterrupt, ends that call: the library, which may try a read again,
/// gets the same exception for it, and the call can raise it. Exists with the interpreter's lock.
class interruption {
 public:
  interruption() noexcept;
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  [[nodiscard]] bool is_any() const noexcept { return raised_.has_value(); }
  /// @throws nb::python_error Such an exception, if a read in this thread has raised one.
  void raise_if_any() const;
  /// To be called before a read calls Python, without the lock. @throws python_exception
  static void rethrow_if_any();

 private:
  friend void rethrow(nb::python_error& raised, std::optional<std::uint64_t> sample,
                      held_objects& held);
  static interruption*& current() noexcept;

  interruption* outer_;
  std::optional<python_exception> raised_;
};

}  // namespace feedline::python
