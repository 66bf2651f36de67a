#pragma once

#include <string>
#include <string_view>

namespace feedline::detail {

/// Percent-encoded as signatures want it: all but letters, digits and "-._~", and '/' if it is
/// kept.
[[nodiscard]] std::string encoded(std::string_view text, bool keep_slashes);
/// The opposite. '%' without two digits stays.
[[nodiscard]] std::string decoded(std::string_view text);

}  // namespace feedline::detail
