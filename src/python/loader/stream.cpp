#include "python/loader/stream.hpp"

#include <feedline/error.hpp>

#include <cstdint>
#include <string>

namespace feedline::python {
namespace {

constexpr std::uintptr_t legacy = 1;  ///< `cudaStreamLegacy`, which libraries also spell 0

stream_ref as_stream(std::uintptr_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a stream's handle is a pointer
  return stream_ref::from_raw(reinterpret_cast<void*>(handle == 0 ? legacy : handle));
}

/// PyTorch's current stream, if the program uses PyTorch with the GPU.
std::uintptr_t current_handle(int gpu) {
  const nb::dict loaded = nb::module_::import_("sys").attr("modules");
  if (!loaded.contains("torch")) return legacy;
  const nb::object cuda = nb::object{loaded["torch"]}.attr("cuda");
  if (!nb::cast<bool>(cuda.attr("is_initialized")())) return legacy;
  return nb::cast<std::uintptr_t>(cuda.attr("current_stream")(gpu).attr("cuda_stream"));
}

}  // namespace

stream_ref stream_of(nb::handle named, const device& used) {
  const device_id where = used.capabilities().id;
  if (where.kind == device_kind::host && named.is_none()) return {};
  if (named.is_none()) return as_stream(current_handle(where.ordinal));
  if (nb::isinstance<nb::int_>(named)) return as_stream(nb::cast<std::uintptr_t>(named));
  if (nb::hasattr(named, "__cuda_stream__"))
    return as_stream(nb::cast<std::uintptr_t>(named.attr("__cuda_stream__")()[1]));
  for (const char* const member : {"cuda_stream", "ptr"})
    if (nb::hasattr(named, member)) return as_stream(nb::cast<std::uintptr_t>(named.attr(member)));
  throw usage_error{"a stream is an int or an object with __cuda_stream__, cuda_stream or ptr"};
}

}  // namespace feedline::python
