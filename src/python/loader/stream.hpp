#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/device/stream_ref.hpp>

#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;

/// The stream given by Python: an int as CUDA's handle, or a stream of PyTorch, CuPy or any library
/// with `__cuda_stream__`. None: PyTorch's current stream if it uses the GPU, else CUDA's legacy
/// default stream; on the host no stream.
/// @throws usage_error if it is anything else.
[[nodiscard]] stream_ref stream_of(nb::handle named, const device& used);

}  // namespace feedline::python
