#pragma once

#include <feedline/backend/device.hpp>

#include "detail/log.hpp"
#include "device/owned.hpp"

#include <exception>
#include <initializer_list>
#include <string_view>

namespace feedline::detail {

// Last measures for a device that refuses calls while memory may still be in use.

/// Records events after the work on a stream, as far as the device allows it. For use when another
/// call was refused already, and that refusal is the one to report. False if a recording was
/// refused: then it is impossible to know when the work is done.
[[nodiscard]] inline bool try_record_behind(device& device, stream_ref stream,
                                            std::initializer_list<event_handle> events) noexcept {
  bool all = true;
  for (const event_handle event : events) {
    try {
      device.record(event, stream);
    } catch (...) {
      all = false;  // the earlier refusal is the one to report
    }
  }
  return all;
}

/// Makes a stream wait for an event. False if the device refuses.
[[nodiscard]] inline bool try_wait(device& device, stream_ref stream, event_handle event) noexcept {
  try {
    device.wait(stream, event);
    return true;
  } catch (...) {
    return false;  // the earlier refusal is the one to report
  }
}

/// Blocks until all work before an event is done, because the memory that it uses is about to be
/// freed. False, with an error in the log, if the device refuses: then the memory must be leaked.
/// @param whose Name of the owner, such as "a device ring".
[[nodiscard]] inline bool sync_before_freeing(device& device, event_handle last,
                                              std::string_view whose) noexcept {
  try {
    device.sync(last);
    return true;
  } catch (const std::exception& refusal) {
    log_error("could not wait for the device's work on {} while destroying it: {}", whose,
              refusal.what());
  } catch (...) {
    log_error("could not wait for the device's work on {} while destroying it", whose);
  }
  return false;
}

/// Never frees the memory, because work may still use it; logs an error that says so.
inline void leak(device_memory& memory, std::string_view whose) noexcept {
  if (memory.data() == nullptr) return;
  log_error(
      "{} bytes of {} memory are never freed: the device does not tell whether work on {} is done",
      memory.bytes(), to_string(memory.kind()), whose);
  memory.leak();
}

}  // namespace feedline::detail
