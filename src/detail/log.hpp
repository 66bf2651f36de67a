#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace feedline::detail {

/// The logger named "feedline": the one the program registered with spdlog under that name, else
/// one to standard error.
[[nodiscard]] std::shared_ptr<spdlog::logger> log();

}  // namespace feedline::detail
