#pragma once

#include <feedline/error_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace feedline::detail {

/// Checks the members of a policy that hold for every reader of a dataset.
/// @param option The option that has it, for messages: "loader_options::errors".
/// @throws usage_error
void check_errors(const error_policy& errors, std::string_view option);

/// @throws usage_error unless the policy's substitute, if it has one, is one of the samples.
void check_substitute(const error_policy& errors, std::string_view option, std::uint64_t samples);

/// The pause before a retry, the first of which is number 0.
[[nodiscard]] inline std::chrono::milliseconds pause_before(int retry,
                                                            const error_policy& policy) noexcept {
  auto length = policy.first_pause;
  if (length.count() == 0) return length;
  for (int i = 0; i < retry && length < policy.max_pause; ++i) length *= 2;
  return std::min(length, policy.max_pause);
}

}  // namespace feedline::detail
