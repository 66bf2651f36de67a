#pragma once

#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Replaces patterns by the files that they match: "shard-{0000..0146}.tar", "part-*.npy".
///
/// A range in braces stands for each of its numbers, in order. If an end has leading zeros, all
/// numbers have as many digits. `*`, `?` and `[…]` are those of `glob(7)`; their matches are sorted
/// by bytes. A path without any of these, or one that exists as written, is kept. Functions that
/// take several paths take patterns too.
/// @throws dataset_error naming the pattern: nothing matches it, a number of its range has no file,
/// a folder cannot be read.
/// @throws usage_error if a range is descending or has more than a million numbers.
[[nodiscard]] std::vector<std::string> expand_paths(const std::vector<std::string>& patterns);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
