#include "image/sets/annotation_decoder.hpp"

#include <feedline/error.hpp>

#include "image/image_geometry.hpp"
#include "image/sets/moved_boxes.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/followed_moves.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Moves an image's boxes and points as the image's decoder and the loader's flip move pixels.
class annotation_decoder final : public record_decoder {
 public:
  annotation_decoder(annotation_table table, const annotation_options& options,
                     const std::string& image, const std::string& flags)
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
        each.spec.tie = image_tie{.image = image,
                                  .flip = options.image.flip == 0 ? options.flip : 0,
                                  .moves = followed_moves::text(transform_of(options, image))};
    for (std::uint64_t k = 0; k < table_.points_per_box; ++k) partners_.push_back(k);
    for (const auto& [left, right] : options.flip_pairs)
      std::swap(partners_.at(left), partners_.at(right));
  }

  /// The transform that the image must have.
  static field_transform transform_of(const annotation_options& options, const std::string& image) {
    return {.field = image, .affine = options.affine, .perspective = options.perspective};
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

}  // namespace

record_decoder_ptr make_annotation_decoder(annotation_table table,
                                           const annotation_options& options,
                                           const std::string& image, const std::string& flags) {
  return std::make_shared<const annotation_decoder>(std::move(table), options, image, flags);
}

}  // namespace feedline::detail
