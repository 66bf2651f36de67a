#include <feedline/results/ring.hpp>

#include "results/slots.hpp"

#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

result_ring::result_ring(const device_ptr& device, const result_options& options)
    : slots_{detail::result_slots::make(device, options)} {}

result_ring::~result_ring() {
  if (slots_->is_own_process()) {
    slots_->stop();
  } else {
    detail::leak(std::move(slots_));
  }
}

std::optional<source_lease> result_ring::push(const void* from, std::size_t bytes,
                                              stream_ref stream, const result_tag& tag) {
  return slots_->push(from, bytes, stream, tag, true);
}

std::optional<source_lease> result_ring::try_push(const void* from, std::size_t bytes,
                                                  stream_ref stream, const result_tag& tag) {
  return slots_->push(from, bytes, stream, tag, false);
}

void result_ring::finish() {
  slots_->finish();
}

optional_result result_ring::next() {
  const auto slot = slots_->arrived(true);
  if (!slot) return std::nullopt;
  return slots_->hold(*slot);
}

optional_result result_ring::try_next() {
  const auto slot = slots_->arrived(false);
  if (!slot) return std::nullopt;
  return slots_->hold(*slot);
}

void result_ring::stop() noexcept {
  slots_->stop();
}

std::size_t result_ring::slot_bytes() const noexcept {
  return slots_->options().slot_bytes;
}

std::size_t result_ring::slots() const noexcept {
  return slots_->options().slots;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
