#pragma once

#include <feedline/image/decode.hpp>

#include <string_view>

namespace feedline::detail {

/// Counts an image that is accepted in spite of damage or stray bytes, and reports the 1st, 10th,
/// 100th and so on. @param options Options of a decoder. @param words The damage.
void count_damaged(const image_options& options, std::string_view words);

}  // namespace feedline::detail
