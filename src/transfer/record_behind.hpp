#pragma once

#include <feedline/device/device.hpp>

#include <initializer_list>

namespace feedline::detail {

/// Records what events the device still lets it behind work on a stream: for when something else was
/// refused already, which is what is to be reported.
inline void try_record_behind(device& device, stream_ref stream,
                              std::initializer_list<event_handle> events) noexcept {
  for (const event_handle event : events) {
    try {
      device.record(event, stream);
    } catch (...) {
      // The first refusal is the one to report.
    }
  }
}

/// Records events behind work that was issued on a stream. If the device refuses one, every one is
/// tried again before the refusal is thrown: memory that the work uses is freed when its events are
/// done, so they must not be left where they were before it.
/// @throws device_error
inline void record_behind(device& device, stream_ref stream,
                          std::initializer_list<event_handle> events) {
  try {
    for (const event_handle event : events) device.record(event, stream);
  } catch (...) {
    try_record_behind(device, stream, events);
    throw;
  }
}

}  // namespace feedline::detail
