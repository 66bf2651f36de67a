/// The leases that users hold: on a result, and on the memory that it is copied from.

#include <feedline/results/result.hpp>
#include <feedline/results/source_lease.hpp>

#include "results/slots.hpp"

#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

result::result(std::shared_ptr<detail::result_slots> slots, slot_index slot,
               std::span<std::byte> bytes, const result_tag& tag, std::uint64_t number) noexcept
    : slots_{std::move(slots)}, slot_{slot}, bytes_{bytes}, tag_{tag}, number_{number} {}

result::result(result&& other) noexcept
    : slots_{std::move(other.slots_)},
      slot_{other.slot_},
      bytes_{std::exchange(other.bytes_, {})},
      tag_{std::exchange(other.tag_, {})},
      number_{std::exchange(other.number_, 0)} {}

result& result::operator=(result&& other) noexcept {
  if (this == &other) return *this;
  release();
  slots_ = std::move(other.slots_);
  slot_ = other.slot_;
  bytes_ = std::exchange(other.bytes_, {});
  tag_ = std::exchange(other.tag_, {});
  number_ = std::exchange(other.number_, 0);
  return *this;
}

result::~result() {
  release();
}

void result::release() noexcept {
  if (!slots_) return;  // moved from
  if (!slots_->process().is_this()) return detail::leak(std::move(slots_));
  slots_->end_result(slot_);
  slots_.reset();
}

void result::throw_not_whole(std::size_t element_bytes) const {
  throw usage_error{"result " + std::to_string(number_) + " has " + std::to_string(bytes_.size()) +
                    " bytes, no whole number of elements of " + std::to_string(element_bytes) +
                    ": ask for the type that was pushed, or for bytes()"};
}

source_lease::source_lease(std::shared_ptr<detail::result_slots> slots, slot_index slot,
                           std::uint64_t number, stream_ref stream) noexcept
    : slots_{std::move(slots)}, slot_{slot}, number_{number}, stream_{stream} {}

source_lease::source_lease(source_lease&& other) noexcept
    : slots_{std::move(other.slots_)},
      slot_{other.slot_},
      number_{other.number_},
      stream_{other.stream_} {}

source_lease& source_lease::operator=(source_lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  slots_ = std::move(other.slots_);
  slot_ = other.slot_;
  number_ = other.number_;
  stream_ = other.stream_;
  return *this;
}

source_lease::~source_lease() {
  release();
}

void source_lease::release() noexcept {
  if (!slots_) return;  // moved from
  if (!slots_->process().is_this()) return detail::leak(std::move(slots_));
  slots_->end_source(slot_, number_, stream_);
  slots_.reset();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
