#pragma once

#include "loader/pipeline/pipeline.hpp"

#include <utility>

namespace feedline::test {

/// A loader's pipeline with the plan that a loader resolves for it. Tests use it to see more than a
/// loader shows.
struct planned_pipeline : detail::pipeline {
  planned_pipeline(const dataset_ptr& data, const sampler& order, const device_ptr& device,
                   const loader_options& options)
      : pipeline{data, device, options,
                 detail::resolve(*data, order, device->capabilities(), options)} {}
};

}  // namespace feedline::test
