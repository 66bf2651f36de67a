#pragma once

#include <feedline/sampler/shard.hpp>

#include <functional>
#include <string>

namespace feedline::detail {

/// `shard::from_environment`, of any environment.
/// @param variable The value of one; null where it is not set.
[[nodiscard]] shard shard_of_environment(
    const std::function<const char*(const char* name)>& variable);

/// @param whose For the message: the source of this rank and world.
/// @throws usage_error if there is no world, or the rank is not in it.
void check_shard(const shard& given, const std::string& whose);

}  // namespace feedline::detail
