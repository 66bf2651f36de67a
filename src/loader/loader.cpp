#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>

#include "loader/pipeline.hpp"

#include <utility>

namespace feedline {
namespace {

std::shared_ptr<detail::pipeline> make_pipeline(dataset_ptr dataset, const sampler& sampler,
                                                device_ptr device, const loader_options& options) {
  if (!dataset) throw usage_error{"a loader needs a dataset, and was given none (null)"};
  if (!device)
    throw usage_error{
        "a loader needs a device, and was given none (null): make_host_device() is one"};
  return std::make_shared<detail::pipeline>(std::move(dataset), sampler, std::move(device),
                                            validated(options));
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
