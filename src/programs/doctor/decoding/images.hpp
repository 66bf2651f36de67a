#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace doctor {

/// Images of a field that the device and readers decode with `decode_on::device`, for some of them.
struct image_decoding {
  std::string field;
  std::uint64_t looked_at = 0;  ///< images, spread evenly over the dataset
  /// How many of them readers decode, by the kind of file, such as "a progressive JPEG".
  std::map<std::string, std::uint64_t> by_readers = {};

  [[nodiscard]] std::uint64_t left() const {
    std::uint64_t all = 0;
    for (const auto& [kind, count] : by_readers) all += count;
    return all;
  }
};

/// Reads some images of each field whose images devices decode. Files that cannot be read are left
/// out: the loops meet them, too.
[[nodiscard]] std::vector<image_decoding> look_at_images(const feedline::dataset& samples);

/// "a progressive JPEG: 12, an interlaced PNG: 3".
[[nodiscard]] std::string kinds_text(const image_decoding& seen);

}  // namespace doctor
