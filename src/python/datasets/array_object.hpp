#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/arrays/windows.hpp>

#include "python/dataset_object.hpp"

#include <cstdint>
#include <string>
#include <variant>

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

/// An axis as Python gives it: its name or number.
using axis_argument = std::variant<std::int64_t, std::string>;

inline array_axis as_axis(const axis_argument& axis) {
  return std::visit([](const auto& each) { return array_axis{each}; }, axis);
}

}  // namespace feedline::python
