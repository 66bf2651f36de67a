#pragma once

#include <feedline/export.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field that the host reads: one of `loader_options::keep_on_host`.
struct host_field {
  std::string name;
  /// false: its rows are not copied to the device, unless other fields are transformed, mixed or
  /// made there, and the batch's view of it is on the host. true: they are on both sides; the
  /// batch's view is on the device, and `batch::on_host` gives the other one.
  bool on_device_too = false;

  friend bool operator==(const host_field&, const host_field&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
