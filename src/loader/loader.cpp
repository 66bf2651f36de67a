#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>

#include "detail/log.hpp"
#include "loader/pipeline.hpp"

#include <utility>

namespace feedline {
namespace {

/// Whether a loader that does not fit may be tried again with fewer rows kept: where the user left
/// the placement open.
bool may_keep_less(const loader_options& options, const out_of_memory& refusal) {
  return options.placement == placement::automatic && options.max_cache_bytes != 0 &&
         refusal.kind() == memory_kind::device;
}

std::shared_ptr<detail::pipeline> make_pipeline(dataset_ptr dataset, const sampler& sampler,
                                                device_ptr device, const loader_options& options) {
  if (!dataset) throw usage_error{"a loader needs a dataset, and was given none (null)"};
  if (!device)
    throw usage_error{
        "a loader needs a device, and was given none (null): make_host_device() is one"};
  loader_options settled = validated(options);
  for (;;) {
    try {
      return std::make_shared<detail::pipeline>(dataset, sampler, device, settled);
    } catch (const out_of_memory& refusal) {
      if (!may_keep_less(settled, refusal)) throw;
      const std::size_t budget =
          std::exchange(settled.max_cache_bytes, settled.max_cache_bytes / 2);
      detail::log()->warn(
          "{}: rows were to be kept in up to {} bytes of device memory, but {}; trying {} bytes",
          device->capabilities().name, budget, refusal.what(), settled.max_cache_bytes);
    }
  }
}

}  // namespace

loader::loader(dataset_ptr dataset, sampler sampler, device_ptr device, loader_options options)
    : pipeline_{make_pipeline(std::move(dataset), sampler, std::move(device), options)} {}

loader& loader::operator=(loader&& other) noexcept {
  if (this == &other) return *this;
  if (pipeline_) pipeline_->shut_down();
  pipeline_ = std::move(other.pipeline_);
  return *this;
}

loader::~loader() {
  if (pipeline_)
    pipeline_->shut_down();  // a range that is still there keeps the pipeline, but not its threads
}

epoch_range loader::epoch(std::uint64_t epoch, stream_ref stream) & {
  return {pipeline_, pipeline_->claim(epoch, stream), stream};
}

void loader::stop() noexcept {
  pipeline_->stop();
}

const loader_plan& loader::plan() const noexcept {
  return pipeline_->plan();
}

}  // namespace feedline
