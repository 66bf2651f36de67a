#include <feedline/dataset/select.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "detail/known_value.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "image/reader.hpp"
#include "image/sets/annotations.hpp"
#include "image/sets/file_values.hpp"
#include "image/sets/moved_boxes.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/sized_images.hpp"
#include "ragged/record_columns.hpp"
#include "transform/operations/draws.hpp"
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

/// Moves an image's boxes and points as the image's decoder and the loader's flip move pixels.
class annotation_decoder final : public record_decoder {
 public:
  annotation_decoder(annotation_table table, const annotation_options& options,
                     const std::string& flags)
      : table_{std::move(table)},
        options_{options},
        geometry_{options.image},
        flip_below_{draw_bound(options.image.flip == 0 ? options.flip : 0)},
        moves_{options.affine, options.perspective} {
    fields_ = {{{"image_id", element_type::i64}},
               {{"size", element_type::i32, {2}}},
               {{"boxes", element_type::f32, {4}}, true},
               {{"labels", element_type::i32}, true}};
    if (!table_.flags.empty()) fields_.push_back({{flags, element_type::u8}, true});
    if (table_.points_per_box != 0)
      fields_.push_back({{"keypoints", element_type::f32, {table_.points_per_box, 3}}, true});
    for (described_field& each : fields_)
      if (each.spec.type == element_type::f32)
        each.spec.tie = image_tie{.image = pixels_name,
                                  .flip = options.image.flip == 0 ? options.flip : 0,
                                  .moves = followed_moves::text(transform_of(options))};
    for (std::uint64_t k = 0; k < table_.points_per_box; ++k) partners_.push_back(k);
    for (const auto& [left, right] : options.flip_pairs)
      std::swap(partners_.at(left), partners_.at(right));
  }

  /// The transform that the image must have.
  static field_transform transform_of(const annotation_options& options) {
    return {.field = pixels_name, .affine = options.affine, .perspective = options.perspective};
  }

  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return fields_;
  }
  bool varies_by_epoch() const override {
    return geometry_.is_random() || flip_below_ != 0 || moves_.any();
  }

  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context& context) const override {
    std::uint64_t image = 0;
    std::memcpy(&image, stored.data(), sizeof image);
    const auto [height, width] = table_.sizes[image];
    const std::array size{static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
    out.put(0, std::as_bytes(std::span{&table_.ids[image], 1}));
    out.put(1, std::as_bytes(std::span{size}));
    decode_boxes(image, out, moved_by({height, width}, context));
  }

 private:
  struct kept_box {
    std::uint64_t at;  ///< index in the table
    std::array<float, 4> box;
  };

  moved_coordinates moved_by(image_extents original, const sample_context& context) const try {
    const placed_image placed = geometry_.place(original, context);
    if (!context.epoch) return {placed, original, false, {}};
    const std::uint32_t bits =
        sample_random_bits(context.seed, *context.epoch, context.sample.value);
    const pixel_extents extents{placed.sample.height, placed.sample.width};
    return {placed, original, draw(bits, choice::flip) < flip_below_, moves_.draw(extents, bits)};
  } catch (const image_error& error) {
    throw dataset_error{{}, error.what()};
  }

  void decode_boxes(std::uint64_t image, record_output& out, const moved_coordinates& by) const {
    std::vector<kept_box> kept;
    for (std::uint64_t at = table_.begin_of(image); at < table_.ends[image]; ++at) {
      const moved_coordinates::part part = by.move(table_.boxes[at]);
      if (part.visible > 0 && part.visible >= options_.min_visible)
        kept.push_back({at, written(part.box, by)});
    }
    write<std::array<float, 4>>(2, out, kept, [](const kept_box& of) { return of.box; });
    write<std::int32_t>(3, out, kept, [&](const kept_box& of) { return table_.labels[of.at]; });
    std::size_t field = 4;
    if (!table_.flags.empty())
      write<std::uint8_t>(field++, out, kept,
                          [&](const kept_box& of) { return table_.flags[of.at]; });
    if (table_.points_per_box != 0 && out.wants(field)) write_points(field, out, kept, by);
  }

  template <class Value, class Get>
  void write(std::size_t field, record_output& out, const std::vector<kept_box>& kept,
             const Get& get) const {
    if (!out.wants(field)) return;
    const auto room = out.ragged(field, kept.size());
    for (std::size_t i = 0; i < room.size() / sizeof(Value); ++i) {
      const Value value = get(kept[i]);
      std::memcpy(room.data() + i * sizeof value, &value, sizeof value);
    }
  }

  void write_points(std::size_t field, record_output& out, const std::vector<kept_box>& kept,
                    const moved_coordinates& by) const {
    const std::size_t numbers = 3 * table_.points_per_box;
    const auto room = out.ragged(field, kept.size());
    for (std::size_t i = 0; i < room.size() / (numbers * sizeof(float)); ++i)
      for (std::size_t k = 0; k < numbers; k += 3) {
        const std::size_t from = by.flipped() ? 3 * partners_[k / 3] : k;
        const float* const point = &table_.keypoints[kept[i].at * numbers + from];
        double x = point[0];
        double y = point[1];
        std::array<float, 3> moved{};
        if (point[2] > 0 && by.move_point(x, y))
          moved = {of_width(x, by), of_height(y, by), point[2]};
        std::memcpy(room.data() + (i * numbers + k) * sizeof(float), moved.data(), sizeof moved);
      }
  }

  /// In the wanted format.
  std::array<float, 4> written(std::array<double, 4> box, const moved_coordinates& by) const {
    if (options_.format != box_format::xyxy) {
      box[2] -= box[0];
      box[3] -= box[1];
    }
    if (options_.format == box_format::cxcywh) {
      box[0] += box[2] / 2;
      box[1] += box[3] / 2;
    }
    return {of_width(box[0], by), of_height(box[1], by), of_width(box[2], by),
            of_height(box[3], by)};
  }

  float of_width(double x, const moved_coordinates& by) const {
    return static_cast<float>(options_.normalized ? x / by.width() : x);
  }
  float of_height(double y, const moved_coordinates& by) const {
    return static_cast<float>(options_.normalized ? y / by.height() : y);
  }

  annotation_table table_;
  annotation_options options_;
  image_geometry geometry_;
  std::uint64_t flip_below_;
  followed_moves moves_;
  std::vector<std::uint64_t> partners_;  ///< the point that a flip makes of each point's index
  std::vector<described_field> fields_;
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
      std::make_shared<const annotation_decoder>(std::move(table), options, flags), how);
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
