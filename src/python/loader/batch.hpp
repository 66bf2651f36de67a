#pragma once

#include <feedline/batch/batch.hpp>

#include <cstddef>
#include <memory>
#include <optional>

#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;

/// Names of a batch's fields as Python's strings. An epoch makes them once for all its batches, so
/// a batch of many fields costs the loop no more than one of few. Used with the interpreter's lock.
class field_names {
 public:
  explicit field_names(const batch& of);

  /// Name → index, in order of the fields.
  [[nodiscard]] const nb::dict& indices() const noexcept { return indices_; }
  /// Index of the field with this name, or nothing.
  /// @throws nb::python_error if the name cannot be a key of a dict.
  [[nodiscard]] std::optional<std::size_t> index_of(nb::handle name) const;

 private:
  nb::dict indices_;
};

/// A batch as Python has it. The object, its tensors and all that was made of them share the lease.
struct batch_object {
  std::shared_ptr<const batch> lease;
  std::shared_ptr<const field_names> names;
};

}  // namespace feedline::python
