#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/arrays/windows.hpp>

#include "python/dataset_object.hpp"

namespace feedline::python {

/// `Array`, and what it holds of Python.
using array_object = bound_dataset<array_ptr>;

/// `WindowField`: the C++ field, and what its arrays hold.
struct window_field_object {
  window_field of;
  holds held = {};

  template <class Function>
  void for_collector(Function&& report) const {
    for (const nb::object& each : held) report(each);
  }
};

}  // namespace feedline::python
