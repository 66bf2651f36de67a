#include <feedline/dataset/select.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "detail/known_value.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "image/image_options.hpp"
#include "image/sets/annotation_decoder.hpp"
#include "image/sets/annotations.hpp"
#include "image/sets/file_values.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/sized_images.hpp"
#include "ragged/record_columns.hpp"
#include "transform/operations/followed_moves.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

constexpr const char* pixels_name = "image";

/// A record of an image's boxes is its number.
class image_numbers final : public coded_values {
 public:
  image_numbers(std::vector<std::string> paths, std::vector<std::int64_t> ids)
      : paths_{std::move(paths)}, ids_{std::move(ids)} {}

  std::uint64_t size() const override { return ids_.size(); }
  std::uint64_t stored_bytes(std::uint64_t) const override { return sizeof(std::uint64_t); }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    const auto bytes = memory(sizeof sample);
    std::memcpy(bytes.data(), &sample, sizeof sample);
    return bytes;
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    throw dataset_error{{.path = paths_[sample], .field = fault.where().field, .sample = sample},
                        "image " + std::to_string(ids_[sample]) + ": " + fault.message()};
  }

 private:
  std::vector<std::string> paths_;
  std::vector<std::int64_t> ids_;
};

void check(const annotation_options& options) {
  require_known("annotation_options::format", options.format, {"xyxy", "xywh", "cxcywh"});
  require_known("annotation_options::longer", options.longer, {"error", "truncate"});
  const auto share = [](const char* name, double value) {
    if (!(value >= 0 && value <= 1))
      throw usage_error{std::string{"annotation_options::"} + name + " is " +
                        detail::text_of(value) + ", but must be 0 to 1"};
  };
  share("flip", options.flip);
  if (options.image.flip != 0)
    throw usage_error{
        "annotation_options::image.flip is set; set annotation_options::flip, by which boxes and "
        "points are flipped, too"};
  share("min_visible", options.min_visible);
  if (options.image.fit == image_fit::pad && (options.affine || options.perspective))
    throw usage_error{
        "annotation_options::affine or perspective is set, and image.fit is pad: a transform that "
        "moves pixels would move the padding, so a loader refuses it; leave them out, or set "
        "another image.fit"};
  const field image{pixels_name, element_type::u8, {}};
  const checked_field colors{image, 3};
  if (options.affine) random_affine_operation::check(*options.affine, colors);
  if (options.perspective) random_perspective_operation::check(*options.perspective, colors);
}

/// Pairs are known points, each in one pair at most.
void check_pairs(const annotation_options& options, std::uint64_t points) {
  std::vector<bool> used(points);
  for (const auto& pair : options.flip_pairs)
    for (const std::uint64_t point : pair) {
      const std::string what = "annotation_options::flip_pairs has point " + std::to_string(point);
      if (point >= points)
        throw usage_error{what + ", but images have " + std::to_string(points) +
                          " key points a box, counted from 0"};
      if (used[point]) throw usage_error{what + " twice; a point has one partner"};
      used[point] = true;
    }
}

/// Boxes of all images; one length for all that is a box's.
dataset_ptr boxes_of(const annotated_images& told, annotation_table table,
                     const annotation_options& options, const std::string& flags) {
  std::uint64_t most = 1;
  for (std::uint64_t i = 0; i < table.ends.size(); ++i)
    most = std::max(most, table.ends[i] - table.begin_of(i));
  if (options.max_boxes != 0) most = options.max_boxes;
  const pad_options padded{.length = most, .longer = options.longer};
  decode_options how{.pad = {{"boxes", padded}, {"labels", padded}}};
  how.pad["labels"].value = std::int64_t{-1};
  if (!table.flags.empty()) how.pad[flags] = padded;
  if (table.points_per_box != 0) how.pad["keypoints"] = padded;
  const auto numbers = std::make_shared<const image_numbers>(told.paths, table.ids);
  const dataset_ptr all = make_record_dataset(
      "annotated images", numbers,
      make_annotation_decoder(std::move(table), options, pixels_name, flags), how);
  std::vector<selected_field> names;
  for (const field& each : all->fields())
    if (!each.name.ends_with("_length") || each.name == "boxes_length")
      names.push_back({each.name, {}});
  return select(all, names);
}

}  // namespace

annotated_images make_annotated(const std::vector<annotated_image>& images,
                                const annotation_options& given, const annotation_names& names) {
  check(given);
  annotation_options options = given;
  options.image = checked_image_options(options.image);
  // Readers flip padded images: a transform would move the padding, too.
  if (options.image.fit == image_fit::pad) options.image.flip = options.flip;
  const decoder_ptr decoder = make_image_decoder(options.image);
  annotated_images result;
  annotation_table table = checked_annotations(images, options, result);
  check_pairs(options, table.points_per_box);
  if (!result.examples.empty())
    log()->warn(
        "annotated images: {} boxes reach out of their images and are clipped, {} have no "
        "area and are left out; such as {}",
        result.clipped_boxes, result.dropped_boxes, printable(result.examples.front()));
  const auto extents = std::make_shared<sample_extents>(table.sizes.size());
  auto known = std::make_shared<std::vector<image_extents>>();
  for (const auto& [height, width] : table.sizes) {
    extents->set(known->size(), {height, width});
    known->push_back({height, width});
  }
  const bool is_padded = options.image.fit == image_fit::pad;
  field spec = decoder->describe({});
  spec.name = pixels_name;
  const auto source = [words = names.size_source](std::uint64_t) { return words; };
  const dataset_ptr pixels = make_decoded_dataset(
      make_file_values(files_at(result.paths), pixels_name,
                       {.known = extents,
                        .follows_orientation = options.image.follow_orientation,
                        .other = source},
                       is_padded ? padded_sizes(options.image, known) : nullptr),
      {decoder, std::move(spec)});
  std::vector<dataset_ptr> parts{pixels};
  if (options.image.fit != image_fit::stretch)
    parts.push_back(make_size_field(pixels_name, options.image, known));
  parts.push_back(boxes_of(result, std::move(table), options, names.flags));
  result.dataset = zip(std::move(parts));
  return result;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

annotated_images make_annotated_dataset(const std::vector<annotated_image>& images,
                                        const annotation_options& options) {
  return detail::make_annotated(images, options, {});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
