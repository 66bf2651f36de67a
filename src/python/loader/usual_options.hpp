#pragma once

#include <feedline/loader/expert_options.hpp>

namespace feedline::python {

/// Python's defaults. They differ from those of C++ in one thing: what is kept of a batch just
/// works, because in Python it is hard to see when a batch ends.
[[nodiscard]] inline expert_options usual_expert_options() {
  return {.on_held = on_held::allocate};
}

}  // namespace feedline::python
