#pragma once

#include <string>
#include <string_view>

namespace feedline::detail {

/// The path of the index.json of a folder; a path to one is that itself.
[[nodiscard]] std::string index_path(const std::string& folder);

/// Whether a folder's index.json begins like one of a format. Reads its first bytes.
/// @param word Such as "\"shards\"".
[[nodiscard]] bool folder_has_index(const std::string& folder, std::string_view word);

/// The error of formats with an index in a feedline without nlohmann-json.
[[noreturn]] void refuse_without_json(const std::string& path);

}  // namespace feedline::detail
