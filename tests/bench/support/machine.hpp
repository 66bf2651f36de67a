#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace feedline::bench {

/// Facts about the machine at hand by name: processor, hardware threads, GPU, driver, bus.
[[nodiscard]] nlohmann::json machine_facts();

/// The same as lines, for the head of every table.
[[nodiscard]] std::string describe_machine();

/// Whether there is a GPU to measure.
[[nodiscard]] bool has_gpu();

}  // namespace feedline::bench
