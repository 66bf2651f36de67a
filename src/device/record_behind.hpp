#pragma once

#include <feedline/device/device.hpp>

#include <initializer_list>

namespace feedline::detail {

/// Records what events the device still lets it behind work on a stream: for when something else was
/// refused already, which is what is to be reported. False if one of them was refused: nobody can
/// know when the work is done.
[[nodiscard]] inline bool try_record_behind(device& device, stream_ref stream,
                                            std::initializer_list<event_handle> events) noexcept {
  bool all = true;
  for (const event_handle event : events) {
    try {
      device.record(event, stream);
    } catch (...) {
      all = false;  // the first refusal is the one to report
    }
  }
  return all;
}

}  // namespace feedline::detail
