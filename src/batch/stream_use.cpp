#include <feedline/batch/stream_use.hpp>
#include <feedline/error.hpp>

#include "batch/device_ring.hpp"

#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

stream_use::stream_use(std::shared_ptr<const batch> used, stream_ref stream)
    : batch_{std::move(used)}, stream_{stream}, begun_by_{std::this_thread::get_id()} {
  if (!batch_) throw usage_error{"a stream_use was made without a batch"};
  if (!batch_->format().process.is_this()) {
    throw usage_error{
        "a batch cannot be used in a fork of the process that took it: there it may only be "
        "destroyed"};
  }
  is_further_ = batch_->lease_.ring()->begin_use_on(batch_->lease_->slot, stream);
}

stream_use& stream_use::operator=(stream_use&& other) noexcept {
  if (this == &other) return *this;
  end();
  batch_ = std::move(other.batch_);
  stream_ = other.stream_;
  begun_by_ = other.begun_by_;
  is_further_ = other.is_further_;
  return *this;
}

stream_use::~stream_use() {
  end();
}

void stream_use::end() noexcept {
  if (!batch_) return;  // moved from
  detail::device_ring* const ring = batch_->lease_.ring();
  if (is_further_ && ring != nullptr && ring->is_own_process())
    ring->end_use_on(batch_->lease_->slot, stream_, begun_by_);
  batch_.reset();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
