#pragma once

#include <feedline/image/decode.hpp>

#include <cstdint>
#include <string_view>

namespace feedline::detail {

/// Whether a count is 1, 10, 100 and so on: only such counts are logged.
[[nodiscard]] bool is_power_of_ten(std::uint64_t count);

/// Counts an image that is accepted in spite of damage or stray bytes, and reports the 1st, 10th,
/// 100th and so on. @param options Options of a decoder. @param words The damage.
void count_damaged(const image_options& options, std::string_view words);

}  // namespace feedline::detail
