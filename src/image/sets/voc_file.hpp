#pragma once

#include <feedline/image/annotations.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Reads annotations in Pascal VOC's format. @param path Names the file in errors.
/// @param classes Not empty.
/// @param file_name Is given the image's name in it; empty: it has none.
/// @return The image with size, boxes, labels and flags, without path and id.
/// @throws dataset_error naming file and object.
[[nodiscard]] annotated_image read_voc(const std::string& path, std::string_view text,
                                       const std::vector<std::string>& classes,
                                       std::string& file_name);

}  // namespace feedline::detail
