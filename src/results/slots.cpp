#include "results/slots.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "device/leak.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t alignment = 256;
constexpr const char* pushed = "the memory of a pushed result";

/// Bytes from one slot to the next. @throws usage_error
std::size_t stride(const result_options& options) {
  if (options.slot_bytes == 0 || options.slots == 0) {
    throw usage_error{"a result ring has " + std::to_string(options.slots) + " slots of " +
                      std::to_string(options.slot_bytes) +
                      " bytes: set result_options::slot_bytes to the bytes of the largest result, "
                      "and slots to 1 or more"};
  }
  if (options.slots > 65'000 ||
      options.slot_bytes > std::numeric_limits<std::size_t>::max() / 2 / options.slots) {
    throw usage_error{"a result ring cannot have " + std::to_string(options.slots) + " slots of " +
                      std::to_string(options.slot_bytes) +
                      " bytes: lower result_options::slots (at most 65000) or slot_bytes"};
  }
  return round_up(options.slot_bytes, alignment);
}

}  // namespace

std::shared_ptr<result_slots> result_slots::make(const device_ptr& device,
                                                 const result_options& options) {
  if (!device) throw usage_error{"a result ring needs a device, and was given none"};
  free_deferred();
  return {new result_slots{device, options},
          [](result_slots* slots) { free_when_idle(std::unique_ptr<deferred_free>{slots}); }};
}

result_slots::result_slots(const device_ptr& device, const result_options& options)
    : slot_ring{device, memory_kind::staging, options.slots, stride(options)},
      options_{options},
      stream_{device},
      produced_{device},
      free_{options.slots},
      sent_{options.slots} {
  for (std::size_t i = 0; i < options.slots; ++i) free_.push(slot_index{i});
}

std::optional<source_lease> result_slots::push(const void* from, std::size_t bytes,
                                               stream_ref stream, const result_tag& tag,
                                               bool blocks) {
  try {
    check(from, bytes, stream);
  } catch (const device_error&) {
    fail(tag, pushed_);
    failure_.rethrow();
  }
  const auto claimed = blocks ? free_.pop() : free_.try_pop();
  failure_.rethrow();
  if (!claimed || stopped_.load()) return std::nullopt;

  move(*claimed, result_state::free, result_state::copying);
  result_slot& slot = (*this)[*claimed];
  const std::uint64_t number = pushed_++;
  slot.bytes = bytes;
  slot.tag = tag;
  slot.number.store(number);
  issue(slot, from, stream);
  sent_.push(*claimed);
  return source_lease{{shared_from_this(), {.slot = *claimed, .number = number, .stream = stream}}};
}

void result_slots::check(const void* from, std::size_t bytes, stream_ref stream) {
  failure_.rethrow();
  if (finished_) {
    throw usage_error{
        "a result was pushed after finish(): call finish() after the last one, or make another "
        "ring"};
  }
  if (bytes > options_.slot_bytes) {
    throw usage_error{"a result of " + std::to_string(bytes) + " bytes does not fit the slots of " +
                      std::to_string(options_.slot_bytes) +
                      " bytes: raise result_options::slot_bytes, or push it in parts"};
  }
  if (from == nullptr && bytes != 0) {
    throw usage_error{
        "a result of " + std::to_string(bytes) +
        " bytes was pushed from a null pointer: name the device memory that holds it"};
  }
  if (checked_ != stream) {
    try {
      device()->check(stream);
    } catch (const usage_error&) {
      if (stream) throw;
      throw usage_error{device()->capabilities().name +
                        " needs the stream that a result is made on: call push(from, bytes, "
                        "feedline::stream_ref{your_stream})"};
    }
    checked_ = stream;
  }
  if (device()->is_capturing(stream)) {
    throw usage_error{
        "a result was pushed on a stream that is being captured, and a launch of the graph would "
        "not push it again: push after each launch"};
  }
}

void result_slots::issue(result_slot& slot, const void* from, stream_ref stream) {
  const event_handle copied = slot.copied.get();
  try {
    device()->record(produced_.get(), stream);
    device()->wait(stream_.get(), produced_.get());
    if (slot.bytes != 0) device()->copy_back(slot.data, from, slot.bytes, stream_.get());
    device()->record(copied, stream_.get());
  } catch (...) {
    slot.lost = !try_record_behind(*device(), stream_.get(), {copied});
    if (!try_wait(*device(), stream, copied)) (void)sync_before_freeing(*device(), copied, pushed);
    fail(slot.tag, slot.number.load());
    failure_.rethrow();
  }
}

void result_slots::end_lease(const leased_source& ended) noexcept {
  result_slot& source = (*this)[ended.slot];
  if (source.number.load() != ended.number) return;  // the taker has seen that its copy is done
  try {
    if (device()->is_capturing(ended.stream)) {
      device()->sync(source.copied.get());
    } else {
      device()->wait(ended.stream, source.copied.get());
    }
  } catch (...) {
    fail(result_tag{}, ended.number);
    // The ring has failed, but after the lease ends the memory will be overwritten or freed.
    (void)sync_before_freeing(*device(), source.copied.get(), pushed);
  }
}

std::optional<slot_index> result_slots::arrived(bool blocks) {
  if (broken_) failure_.rethrow();
  const bool was_closed = sent_.closed();  // first: results sent before it must be found
  if (!front_ && !stopped_.load()) front_ = blocks ? sent_.pop() : sent_.try_pop();
  if (stopped_.load()) return std::nullopt;
  if (!front_) {
    if (blocks || was_closed) failure_.rethrow();
    return std::nullopt;
  }
  const result_slot& slot = (*this)[*front_];
  try {
    if (!is_copied(slot, blocks)) return std::nullopt;
  } catch (...) {
    broken_ = true;
    fail(slot.tag, slot.number.load());
    failure_.rethrow();
  }
  return std::exchange(front_, std::nullopt);
}

bool result_slots::is_copied(const result_slot& slot, bool blocks) {
  const auto done = [&] { return device()->is_done(slot.copied.get()); };
  if (!blocks) return done();
  const auto began = std::chrono::steady_clock::now();
  bool is_done = spin_until(done, pauses_between_polls, adaptive_spin::spinner{spin_}.time());
  // The copy may be queued after work that waits for the thread that stops the ring: so no thread
  // blocks on the device here.
  if (!is_done) poll_until([&] { return (is_done = done()) || stopped_.load(); });
  spin_.learn(std::chrono::steady_clock::now() - began, 1);
  return is_done;
}

result result_slots::hold(slot_index slot) {
  move(slot, result_state::copying, result_state::held);
  const result_slot& arrived = (*this)[slot];
  return result{{shared_from_this(),
                 {.slot = slot,
                  .bytes = {arrived.data, arrived.bytes},
                  .tag = arrived.tag,
                  .number = arrived.number.load()}}};
}

void result_slots::recycle(slot_index slot) {
  move(slot, result_state::held, result_state::free);
  free_.push(slot);
}

void result_slots::end_lease(const leased_result& ended) noexcept {
  try {
    recycle(ended.slot);
  } catch (...) {
    fail(ended.tag, ended.number);
  }
}

void result_slots::fail(const result_tag& tag, std::uint64_t number) noexcept {
  failure_.report(failure{{.stage = stage::results,
                           .epoch = tag.epoch,
                           .ticket = number,
                           .batch = tag.batch,
                           .path = {}},
                          std::current_exception()});
  close();
}

}  // namespace feedline::detail
