#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sampler.hpp>

#include "sampler/epoch_share.hpp"

namespace feedline::detail {

/// The part of an epoch that this process delivers, under the policy for a last batch.
/// @throws usage_error if there is nothing to deliver, or the policy forbids what is left.
[[nodiscard]] epoch_share share_of(const sampler& sampler, const dataset& dataset,
                                   const loader_options& options);

}  // namespace feedline::detail
