#pragma once

#include <map>
#include <string>
#include <vector>

namespace feedline::detail {

/// Names of the classes of each column that is a ClassLabel, from what Hugging Face's `datasets`
/// writes into the metadata of a file: {"info": {"features": ...}}. Columns are named by their
/// whole paths: "objects.category".
/// @throws dataset_error naming the path if the text is no such description.
[[nodiscard]] std::map<std::string, std::vector<std::string>> read_hub_classes(
    const std::string& text, const std::string& path);

}  // namespace feedline::detail
