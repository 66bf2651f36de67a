#pragma once

#include "image/resize/geometry.hpp"
#include "image/sets/image_files.hpp"
#include "ragged/coded_values.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// The extents that all files of a sample must have: known before, or learned from the file that is
/// read first. 8 bytes a sample.
class sample_extents {
 public:
  explicit sample_extents(std::uint64_t samples) : known_(samples) {}

  void set(std::uint64_t sample, image_extents extents) noexcept {
    known_[sample].store(packed(extents), std::memory_order_relaxed);
  }
  /// @return The known extents, if they are others.
  [[nodiscard]] std::optional<image_extents> compare(std::uint64_t sample,
                                                     image_extents extents) noexcept {
    std::uint64_t known = 0;
    if (known_[sample].compare_exchange_strong(known, packed(extents), std::memory_order_relaxed) ||
        known == packed(extents))
      return std::nullopt;
    return image_extents{static_cast<std::uint32_t>(known >> 32U),
                         static_cast<std::uint32_t>(known)};
  }

 private:
  [[nodiscard]] static std::uint64_t packed(image_extents extents) noexcept {
    return std::uint64_t{extents.height} << 32U | extents.width;
  }

  std::vector<std::atomic<std::uint64_t>> known_;
};

/// The extents that a file's are compared with.
struct extents_check {
  std::shared_ptr<sample_extents> known = nullptr;  ///< null: nothing is compared
  bool follows_orientation = false;
  /// Names what has other extents, for messages: "its mask, masks/1.png, has".
  std::function<std::string(std::uint64_t sample)> other = nullptr;
};

/// Image files, one for each sample. @param field Its name, for messages.
/// @param sizes Sizes of batches, if they depend on the files.
[[nodiscard]] coded_values_ptr make_file_values(image_files files, std::string field,
                                                extents_check check = {},
                                                batch_sizes_ptr sizes = nullptr);

}  // namespace feedline::detail
