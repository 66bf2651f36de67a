#pragma once

#include <feedline/results/result.hpp>

#include "device/owned.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The states of a result's slot.
///
/// | from    | to      | who, when                                                        |
/// | ------- | ------- | ---------------------------------------------------------------- |
/// | free    | copying | pusher: issues the copy behind `produced`, records `copied`      |
/// | copying | held    | taker: it has seen that `copied` is done                         |
/// | held    | free    | any thread: it ends the result                                   |
///
/// Invariant: the device writes a slot's bytes in `copying` only, the CPU reads them in `held`
/// only. Between the work that makes a result and its copy lies `produced`, recorded on the
/// pusher's stream; between the copy and the work that overwrites its source lies `copied`,
/// which that stream waits for as the source's lease ends. A slot is in the `free` channel exactly
/// when it is free and not claimed. A slot whose copy failed stays `copying`, for good.
enum class result_state : std::uint32_t { free, copying, held };

/// One slot of a result ring. Members are written by the pusher, before free → copying.
struct result_slot {
  static constexpr auto name = "a slot of results";
  static constexpr auto ring_name = "a result ring";

  explicit result_slot(const device_ptr& device) : copied{device} {}
  [[nodiscard]] std::array<event_handle, 1> last_events() const noexcept { return {copied.get()}; }

  std::atomic<result_state> state{result_state::free};
  std::byte* data = nullptr;
  event copied;  ///< recorded after the slot's last copy
  /// A copy into the slot was issued that no event follows: its memory is never freed.
  bool lost = false;
  std::size_t bytes = 0;  ///< size of the result
  result_tag tag;
  /// The result's. Also asked for by leases on sources: a slot with a later one has been copied.
  std::atomic<std::uint64_t> number{0};
};

}  // namespace feedline::detail
