#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "python/interpreter/held_object.hpp"

#include <nanobind/nanobind.h>

namespace feedline::python {

/// `RecordDecoder`: decodes records by a function of Python.
struct bound_record_decoder {
  record_decoder_ptr of;
  nb::object held;  ///< everything that it reaches, for datasets that use it

  template <class Function>
  void for_collector(Function&& report) const {
    report(held);
  }
};

}  // namespace feedline::python
