#pragma once

#include <feedline/batch/batch.hpp>

#include <memory>

namespace feedline::python {

/// A batch as Python has it. The object, its tensors and all that was made of them share the lease.
struct batch_object {
  std::shared_ptr<const batch> lease;
};

}  // namespace feedline::python
