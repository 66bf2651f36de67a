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
  bool host_copy = false;  ///< the host's rows of a field that is on the device too

  [[nodiscard]] tensor_view view() const {
    const tensor_view usual = lease->field_at(place);
    return host_copy ? lease->on_host(usual.name()) : usual;
  }
  /// The memory of the view.
  [[nodiscard]] dlpack_device where() const {
    return view().is_on_host() ? dlpack_device{.type = 1, .id = 0} : dlpack_device_of(*lease);
  }
};

/// DLPack's number of a GPU.
constexpr std::int32_t dlpack_cuda = 2;

/// A view of a `tensor_object` as a NumPy array, or as a PyTorch tensor.
[[nodiscard]] nb::object numpy(const nb::object& self);
[[nodiscard]] nb::object torch(const nb::object& self);

void bind_tensor(nb::module_& module);

}  // namespace feedline::python
