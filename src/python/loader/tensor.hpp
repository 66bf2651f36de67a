#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/interop/dlpack.hpp>

#include "python/bindings.hpp"

#include <cstddef>
#include <memory>

namespace feedline::python {

/// One field of a batch.
struct tensor_object {
  std::shared_ptr<const batch> lease;
  std::size_t place = 0;

  [[nodiscard]] tensor_view view() const { return lease->field_at(place); }
};

/// DLPack's number of a GPU.
constexpr std::int32_t dlpack_cuda = 2;

/// A view of a `tensor_object` as a NumPy array, or as a PyTorch tensor.
[[nodiscard]] nb::object numpy(const nb::object& self);
[[nodiscard]] nb::object torch(const nb::object& self);

void bind_tensor(nb::module_& module);

}  // namespace feedline::python
