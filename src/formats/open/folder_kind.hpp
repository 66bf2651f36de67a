#pragma once

#include <optional>
#include <string>

namespace feedline::detail {

/// A kind of folder that is no folder of images by class, and the way out.
struct folder_kind {
  std::string name;    ///< "an LMDB environment"
  std::string advice;  ///< "write its records as …"
};

/// The kind of a folder by the names in it, and by the content of small files that describe it.
/// Empty: it may hold images by class.
/// @throws dataset_error if it cannot be listed.
[[nodiscard]] std::optional<folder_kind> find_folder_kind(const std::string& folder);

}  // namespace feedline::detail
