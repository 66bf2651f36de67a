#pragma once

#include <feedline/dataset/image_size.hpp>
#include <feedline/export.hpp>
#include <feedline/sampler/bucket_by_length.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Heights and widths of image files, read from their headers on all cores, without decoding.
/// Target `feedline::images`. For a million local files this takes about as long as opening each of
/// them once.
/// @param follow_orientation Whether sizes are those of images that are turned as their EXIF
/// orientation says (`image_options::follow_orientation`).
/// @return One size for each path; 0 × 0 if the file cannot be read or is not an image. The log has
/// the number of such files.
[[nodiscard]] std::vector<image_size> stored_image_sizes(const std::vector<std::string>& paths,
                                                         bool follow_orientation = false);

/// Options for `bucket_by_aspect_ratio`.
struct aspect_ratio_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Ratios of width to height, ascending. An image goes to bucket k, where k is the number of
  /// boundaries ≤ its own ratio. Empty: boundaries are chosen so that buckets have about the same
  /// number of images. torchvision's detection reference has 2^(i / 3) for i from -3 to 3, which is
  /// 0.5 to 2.
  std::vector<double> boundaries = {};
  std::uint64_t buckets = 8;  ///< number of buckets if no boundaries are given
};

/// An order whose batches have images of similar shape, like torchvision's `GroupedBatchSampler`
/// with `create_aspect_ratio_groups`: padding to the largest image of a batch then adds little.
/// Target `feedline::images`.
///
///     auto photos = feedline::open_images({"photos"}, {.height = 1333, .width = 1333,
///                                         .shorter_side = 800, .fit = feedline::image_fit::pad});
///     auto order = feedline::bucket_by_aspect_ratio(feedline::stored_image_sizes(photos.paths));
///     feedline::loader loader{photos.dataset, order, gpu, {.batch_size = 16}};
///
/// The result is a `bucket_by_length` whose lengths are the ratios times 65,536. So each epoch has
/// every sample once, positions take O(1) time, and states and shards work as with any sampler.
/// Images of unknown size (0 × 0) are in the first bucket.
/// @throws usage_error if a boundary is not a number above 0 and below 65,536, or boundaries do not
/// ascend, or `buckets` is 0.
[[nodiscard]] bucket_by_length bucket_by_aspect_ratio(std::span<const image_size> sizes,
                                                      const aspect_ratio_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
