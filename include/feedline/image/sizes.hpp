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
/// @param follow_orientation Sizes are those of images that are turned as EXIF says
/// (`image_options::follow_orientation`).
/// @return One for each path; 0 × 0 where a file cannot be read, or is no image. The log says how
/// many these are.
[[nodiscard]] std::vector<image_size> stored_image_sizes(const std::vector<std::string>& paths,
                                                         bool follow_orientation = false);

/// Options for `bucket_by_aspect_ratio`.
struct aspect_ratio_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Width over height, ascending. An image goes to bucket k, where k is the number of boundaries ≤
  /// its ratio. Empty: boundaries are chosen so that buckets have about the same number of images.
  /// torchvision's detection reference has {1 / 2.0, …, 2.0}: 2^(i / 3) for i of -3 to 3.
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
/// The result is a `bucket_by_length` whose lengths are ratios, in 65,536ths: every sample once, in
/// O(1), resumable, sharded. Images of unknown size (0 × 0) are in the first bucket.
/// @throws usage_error if a boundary is not a number above 0 and below 65,536, or boundaries do not
/// ascend, or `buckets` is 0.
[[nodiscard]] bucket_by_length bucket_by_aspect_ratio(std::span<const image_size> sizes,
                                                      const aspect_ratio_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
