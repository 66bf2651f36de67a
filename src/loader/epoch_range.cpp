#include <feedline/error.hpp>
#include <feedline/loader/epoch_range.hpp>

#include "loader/pipeline.hpp"

#include <utility>

namespace feedline {

epoch_range::epoch_range(std::shared_ptr<detail::pipeline> pipeline,
                         std::shared_ptr<detail::epoch_run> run, stream_ref stream) noexcept
    : pipeline_{std::move(pipeline)}, run_{std::move(run)}, stream_{stream} {}

epoch_range::epoch_range(epoch_range&& other) noexcept = default;

epoch_range::~epoch_range() {
  if (!pipeline_) return;  // moved from
  current_.reset();
  pipeline_->abandon(run_);
}

epoch_range::iterator epoch_range::begin() {
  if (begun_)
    throw usage_error{
        "begin() was called twice on one epoch's range: ask the loader for another epoch"};
  begun_ = true;
  current_ = next();
  return iterator{this};
}

std::optional<batch> epoch_range::next() {
  return pipeline_->next(run_, stream_);
}

epoch_range::iterator& epoch_range::iterator::operator++() {
  range_->current_.reset();  // first: its memory may be what the next batch waits for
  range_->current_ = range_->next();
  return *this;
}

}  // namespace feedline
