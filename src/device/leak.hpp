#pragma once

#include <feedline/device/device.hpp>

#include "detail/log.hpp"
#include "device/owned.hpp"

#include <exception>
#include <initializer_list>
#include <string_view>

namespace feedline::detail {

// What is left to do where a device refuses, and memory may still be in use.

/// Records what events the device still lets it behind work on a stream: for when something else
/// was refused already, which is what is to be reported. False if one of them was refused: nobody
/// can know when the work is done.
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

/// Lets a stream wait for an event, if the device still lets it: else false.
[[nodiscard]] inline bool try_wait(device& device, stream_ref stream, event_handle event) noexcept {
  try {
    device.wait(stream, event);
    return true;
  } catch (...) {
    return false;  // likewise
  }
}

/// Blocks until all that stands before an event is done, for memory that it uses is to be freed.
/// False, with an error in the log, if the device refuses: then the memory must be leaked.
/// @param whose "a device ring"
[[nodiscard]] inline bool sync_before_freeing(device& device, event_handle last,
                                              std::string_view whose) noexcept {
  try {
    device.sync(last);
    return true;
  } catch (const std::exception& refusal) {
    log_error("waiting for the work on {} that is going away: {}", whose, refusal.what());
  } catch (...) {
    log_error("waiting for the work on {} that is going away failed", whose);
  }
  return false;
}

/// Never frees memory, for work may still use it; says so in the log.
inline void leak(device_memory& memory, std::string_view whose) noexcept {
  if (memory.data() == nullptr) return;
  log_error(
      "{} bytes of {} memory are never freed: the device does not tell whether work on {} is done",
      memory.bytes(), to_string(memory.kind()), whose);
  memory.leak();
}

}  // namespace feedline::detail
