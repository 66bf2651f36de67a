#pragma once

#include <feedline/dataset/dataset.hpp>

#include "formats/tokens/shard.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// How many windows of `window` tokens, one every `stride`, fit into `tokens`. Neither is 0.
[[nodiscard]] constexpr std::uint64_t count_windows(std::uint64_t tokens, std::uint64_t window,
                                                    std::uint64_t stride) noexcept {
  return tokens < window ? 0 : (tokens - window) / stride + 1;
}

/// `open_tokens` of shards that are open. @param options As there; the type is the shards'.
/// @throws usage_error, dataset_error: see there.
[[nodiscard]] dataset_ptr make_token_dataset(std::vector<token_shard> shards,
                                             const token_options& options);

}  // namespace feedline::detail
