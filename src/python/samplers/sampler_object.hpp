#pragma once

#include <feedline/sampler/sampler.hpp>

#include "python/interpreter/held_object.hpp"

namespace feedline::python {

/// `Sampler`.
struct sampler_object {
  sampler of;
  holds held = {};  ///< everything that the C++ sampler reaches

  template <class Function>
  void for_collector(Function&& report) const {
    for (const nb::object& each : held) report(each);
  }
};

}  // namespace feedline::python
