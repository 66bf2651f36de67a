#pragma once

#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_logging(nb::module_& module);        // first, so that it ends after the loaders
void bind_interruptible(nb::module_& module);  // second, because workers' ends end reads
void bind_held_objects(nb::module_& module);

}  // namespace feedline::python
