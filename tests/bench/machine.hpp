#pragma once

#include <string>

namespace feedline::bench {

/// One line a fact about the machine at hand: processor, cores, GPU, driver, bus. For the head of
/// every table.
[[nodiscard]] std::string describe_machine();

}  // namespace feedline::bench
