#include <feedline/backend/device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/epoch_range.hpp>
#include <feedline/loader/loader.hpp>

#include "detail/known_value.hpp"
#include "detail/log.hpp"
#include "loader/pipeline/pipeline.hpp"
#include "loader/plan/live_options.hpp"
#include "loader/plan/resolved_plan.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

std::shared_ptr<detail::pipeline> make_pipeline(dataset_ptr dataset, const sampler& sampler,
                                                device_ptr device, const loader_options& options) {
  if (!dataset) throw usage_error{"a loader needs a dataset, and was given none (null)"};
  if (!device)
    throw usage_error{
        "a loader needs a device, and was given none (null): make_host_device() is one"};
  loader_options planned = validated(options);
  detail::require_known("dataset::concurrency()", dataset->concurrency(),
                        {"parallel", "serialized"});
  if (detail::is_live(*dataset)) planned = detail::options_for_live(planned, sampler);
  const auto world = static_cast<std::uint64_t>(planned.shard.world);
  const auto order = sampler.bind(*dataset, planned.batch_size * world);
  for (;;) {
    auto plan = detail::resolve(*dataset, order, device->capabilities(), planned);
    const std::size_t cached = plan.report.cache_bytes;
    try {
      return std::make_shared<detail::pipeline>(dataset, device, planned, std::move(plan));
    } catch (const out_of_memory& refusal) {
      // The user left the cache size open: less may fit.
      const bool may_cache_less =
          planned.placement == placement::automatic && refusal.kind() == memory_kind::device;
      if (!may_cache_less || cached == 0) throw;
      planned.memory.cache = cached / 2;
      detail::log()->warn(
          "{}: cannot cache rows in {} bytes of device memory: {}; trying at most {} bytes",
          device->capabilities().name, cached, refusal.what(), planned.memory.cache);
    }
  }
}

}  // namespace

loader::loader(dataset_ptr dataset, sampler sampler, device_ptr device, loader_options options)
    : pipeline_{make_pipeline(std::move(dataset), sampler, std::move(device), options)} {}

loader& loader::operator=(loader&& other) noexcept {
  if (this == &other) return *this;
  shut_down();
  pipeline_ = std::move(other.pipeline_);
  return *this;
}

loader::~loader() {
  shut_down();
}

void loader::shut_down() noexcept {
  if (!pipeline_) return;  // moved from
  if (pipeline_->belongs_here()) {
    pipeline_->shut_down(pipeline_);  // a range that still exists keeps the pipeline, but not its
                                      // threads
  } else {
    detail::leak(std::move(pipeline_));
  }
}

detail::pipeline& loader::held() const {
  if (!pipeline_) throw usage_error{"a loader was used after it was moved from"};
  return *pipeline_;
}

void loader::refuse_epoch(std::int64_t number) {
  throw usage_error{"a loader was asked for epoch " + std::to_string(number) +
                    "; epochs are numbered from 0"};
}

epoch_range loader::take_epoch(std::uint64_t number, stream_ref stream) {
  auto pass = held().claim(number, stream);
  return {pipeline_, std::move(pass), stream};
}

loader_state loader::state() const {
  return held().state();
}

std::uint64_t loader::order_digest() const {
  return held().order_digest();
}

void loader::seek(const loader_state& state) {
  held().seek(state);
}

failure_report loader::failures() const {
  return held().failures();
}

loader_statistics loader::statistics() const {
  return held().statistics_with_downloads();
}

trace loader::trace() const {
  return held().trace();
}

void loader::stop() noexcept {
  if (pipeline_) pipeline_->stop();
}

bool loader::end_within(std::chrono::milliseconds limit) noexcept {
  return !pipeline_ || pipeline_->end_within(limit);
}

const loader_plan& loader::plan() const {
  return held().plan();
}

download_plan loader::plan_downloads() const {
  return held().plan_downloads();
}

epoch_range::epoch_range(std::shared_ptr<detail::pipeline> pipeline,
                         std::shared_ptr<detail::epoch_pass> pass, stream_ref stream)
    : state_{std::make_unique<state>(state{std::move(pipeline), std::move(pass), stream})} {}

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
  current.current = current.pipeline->next(current.pass, current.stream);
  current.begun = true;
  return iterator{current};
}

optional_batch epoch_range::next() {
  const state& at = held();
  return at.pipeline->next(at.pass, at.stream);
}

optional_batch epoch_range::next(std::chrono::steady_clock::time_point deadline) {
  const state& at = held();
  return at.pipeline->next(at.pass, at.stream, {.deadline = deadline});
}

optional_batch epoch_range::next(std::stop_token stop) {
  const state& at = held();
  return at.pipeline->next(at.pass, at.stream, {.stop = std::move(stop)});
}

optional_batch epoch_range::next(std::stop_token stop,
                                 std::chrono::steady_clock::time_point deadline) {
  const state& at = held();
  return at.pipeline->next(at.pass, at.stream, {.deadline = deadline, .stop = std::move(stop)});
}

epoch_range::state& epoch_range::held() const {
  if (!state_) throw usage_error{"an epoch's range was used after it was moved from"};
  return *state_;
}

void epoch_range::abandon() noexcept {
  if (!state_) return;  // moved from
  state_->current.reset();
  if (state_->pipeline->belongs_here()) {
    state_->pipeline->abandon(state_->pass);
  } else {
    detail::leak(std::move(state_->pipeline));
  }
  state_.reset();
}

epoch_range::iterator& epoch_range::iterator::operator++() {
  // While the slot has more batches, the current lease is not the last one, whose end would mark
  // the stream.
  state& at = *state_;
  auto handed_out = at.pipeline->hand_out(at.pass);
  if (!handed_out) {
    at.current.reset();  // released first: the next batch may wait for its memory
    handed_out = at.pipeline->next(at.pass, at.stream);
  }
  at.current = std::move(handed_out);
  return *this;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
