#pragma once

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/image/decode.hpp>

#include "image/image_geometry.hpp"
#include "image/resize/image_turn.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

/// The row that a device makes of an image. @param largest Extents of the largest sample.
[[nodiscard]] image_row row_on_device(const image_options& options, image_extents largest);
/// A decoder's only step, for devices; none if its row is larger than theirs may be.
[[nodiscard]] std::span<const block_step> steps_on_device(const block_step& only) noexcept;

/// A file that a device can decode, as `encoded_blocks::read` describes it, without its window.
struct device_file {
  encoded_blocks::stored_block block;
  bool has_stray_bytes = false;  ///< a JPEG, between its segments
  bool has_palette = false;
  bool has_indices = false;  ///< a PNG whose values are classes: a palette or up to 8 bits of grey
};

/// @return Empty if readers have to decode the file, or say what is wrong with it.
[[nodiscard]] std::optional<device_file> describe_for_device(std::span<const std::byte> file);

/// Completes the description of a file: how it is turned, the window of it that is used, and where
/// this goes in the row. @return False if images of this size are refused.
[[nodiscard]] bool place_for_device(encoded_blocks::stored_block& file,
                                    const image_options& options, const image_geometry& geometry,
                                    image_turn turns, const sample_context& context);

/// The kind of a file that devices leave to readers, such as "a progressive JPEG".
[[nodiscard]] std::string kind_left_to_readers(std::span<const std::byte> file);

/// Counts images that devices leave to readers, and reports the 1st, 10th, 100th and so on.
/// Threads: any number at once.
class images_left_to_readers {
 public:
  /// @param kind Result of `kind_left_to_readers`.
  void add(const std::string& kind);

 private:
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace feedline::detail
