#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// The used members of a file in COCO's format.
struct coco_content {
  struct image {
    std::int64_t id = 0;
    std::string file_name;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
  };
  struct annotation {
    std::int64_t id = 0;
    std::int64_t image = 0;
    std::int64_t category = 0;
    std::array<float, 4> box{};  ///< left, top, width, height
    bool is_crowd = false;
    std::vector<float> keypoints = {};  ///< x, y, visibility; empty: none
  };
  struct category {
    std::int64_t id = 0;
    std::string name;
  };

  std::vector<image> images;
  std::vector<annotation> annotations;
  std::vector<category> categories;
};

/// Reads a file in COCO's format. @param path Names it in errors.
/// @throws dataset_error: no JSON, with the byte; a member is missing or of another type, with the
/// object's id.
[[nodiscard]] coco_content read_coco(const std::string& path, std::string_view text);

}  // namespace feedline::detail
