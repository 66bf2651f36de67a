#pragma once

#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Puts the files that patterns name in the patterns' places: "shard-{0000..0146}.tar",
/// "part-*.npy".
///
/// A range in braces stands for each of its numbers, in order; if an end has zeros before it, all
/// have as many digits. `*`, `?` and `[…]` are those of `glob(7)`, and what they match is sorted by
/// its bytes. A path that has none of them, or names what there is as it stands, stays. Functions
/// that take several paths take patterns too.
/// @throws dataset_error naming the pattern: nothing matches it, a number of its range has no file,
///         a folder cannot be read.
/// @throws usage_error if a range runs backwards or has more than a million numbers.
[[nodiscard]] std::vector<std::string> expand_paths(const std::vector<std::string>& patterns);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
