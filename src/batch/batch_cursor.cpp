#include "batch/batch_cursor.hpp"

#include <utility>

namespace feedline::detail {

void batch_cursor::begin(std::shared_ptr<epoch_run> run, stream_ref stream) {
  let_go();
  run_ = std::move(run);
  stream_ = stream;
  failure_.reset();
  dealt_ = 0;
}

std::optional<batch> batch_cursor::deal() {
  if (!slot_) return std::nullopt;
  std::optional<batch> dealt{ring_->lease_batch(*slot_, next_)};
  ++next_;
  ++dealt_;
  if (next_ == (*ring_)[*slot_].content.batches) let_go();
  return dealt;
}

void batch_cursor::accept(slot_index slot) {
  slot_content& content = (*ring_)[slot].content;
  const bool wanted = content.run == run_;
  if (wanted) failure_ = std::exchange(content.failure, std::nullopt);
  if (!wanted || content.batches == 0) {
    ring_->discard(slot);
    return;
  }
  ring_->lease(slot, stream_);
  slot_ = slot;
  next_ = 0;
}

void batch_cursor::let_go() noexcept {
  if (slot_) ring_->let_go(*std::exchange(slot_, std::nullopt));
}

}  // namespace feedline::detail
