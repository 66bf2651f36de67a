#include <feedline/error.hpp>
#include <feedline/loader/epoch_range.hpp>

#include "loader/pipeline.hpp"

#include <utility>

namespace feedline {

epoch_range::epoch_range(std::shared_ptr<detail::pipeline> pipeline,
                         std::shared_ptr<detail::epoch_run> run, stream_ref stream)
    : state_{std::make_unique<state>(state{std::move(pipeline), std::move(run), stream})} {}

epoch_range::epoch_range(epoch_range&& other) noexcept = default;

epoch_range& epoch_range::operator=(epoch_range&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  state_ = std::move(other.state_);
  return *this;
}

epoch_range::~epoch_range() {
  abandon();
}

epoch_range::iterator epoch_range::begin() {
  state& current = held();
  if (current.begun)
    throw usage_error{
        "begin() was called twice on one epoch's range: ask the loader for another epoch"};
  current.current = current.next();
  current.begun = true;
  return iterator{current};
}

optional_batch epoch_range::next() {
  return held().next();
}

std::optional<batch> epoch_range::state::next() {
  return pipeline->next(run, stream);
}

epoch_range::state& epoch_range::held() const {
  if (!state_) throw usage_error{"an epoch's range was used after it was moved from"};
  return *state_;
}

void epoch_range::abandon() noexcept {
  if (!state_) return;  // moved from
  state_->current.reset();
  if (state_->pipeline->belongs_here()) {
    state_->pipeline->abandon(state_->run);
  } else {
    detail::leak(std::move(state_->pipeline));
  }
  state_.reset();
}

epoch_range::iterator& epoch_range::iterator::operator++() {
  // While its slot has more, its lease is not the last one, whose end would mark the stream.
  if (auto dealt = state_->pipeline->deal(state_->run)) {
    state_->current = std::move(dealt);
    return *this;
  }
  state_->current.reset();  // first: its memory may be what the next batch waits for
  state_->current = state_->next();
  return *this;
}

}  // namespace feedline
