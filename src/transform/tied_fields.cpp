#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/followed_moves.hpp"

#include <algorithm>
#include <string>

namespace feedline::detail {
namespace {

/// The members of a transform that move pixels, as they are written.
std::string moves_of(const field_transform& transform) {
  field_transform moves{.field = {},
                        .flip = transform.flip,
                        .crop = transform.crop,
                        .resize = transform.resize,
                        .resized_crop = transform.resized_crop};
  const std::string unchanged = to_string(field_transform{.field = {}});
  std::string text = to_string(moves).substr(unchanged.size());
  if (const std::string followed = followed_moves::text(transform); !followed.empty())
    text += ", " + followed;
  return text.empty() ? "nothing" : "'" + text.substr(2) + "'";
}

[[noreturn]] void refuse(const field& one, const std::string& what, const std::string& remedy) {
  throw usage_error{"transforms: field '" + one.name + "' belongs to '" + one.tie->image +
                    "', but " + what + ": " + remedy};
}

/// Sets draw operations that move pixels.
void check_sets(const field& one, const field_transform& transform) {
  if (transform.trivial_augment_wide || transform.rand_augment || transform.auto_augment ||
      transform.augmix)
    refuse(one, "a transform has a set of operations, some of which move pixels",
           std::string{"what belongs to an image would not follow; use "} +
               (one.tie->flip ? "operations on colours, such as jitter"
                              : "affine or perspective for both, or jitter"));
}

/// Boxes and points have coordinates that readers have computed.
void check_coordinates(const field& one, const field_transform& of_image) {
  check_sets(one, of_image);
  if (of_image.crop || of_image.resize || of_image.resized_crop)
    refuse(one, "that image's transform is " + moves_of(of_image),
           "coordinates do not follow; let the decoder cut and resize (image_options)");
  const auto quoted = [](const std::string& text) {
    return text.empty() ? "nothing" : "'" + text + "'";
  };
  const std::string moves = followed_moves::text(of_image);
  if (moves != one.tie->moves)
    refuse(one,
           "that image is moved by " + quoted(moves) + ", and its coordinates by " +
               quoted(one.tie->moves),
           "set the same affine and perspective in the image's transform and in "
           "annotation_options");
  if (of_image.flip != *one.tie->flip)
    refuse(one,
           "that image is flipped with probability " + text_of(of_image.flip) +
               ", and its coordinates with " + text_of(*one.tie->flip),
           "set the same flip in the image's transform and in annotation_options");
}

void check_pixels(const field& one, const field_transform& own, const field& image,
                  const field_transform& of_image) {
  check_sets(one, own);
  check_sets(one, of_image);
  if (moves_of(own) != moves_of(of_image))
    refuse(one,
           "that image's transform is " + moves_of(of_image) + ", and its own is " + moves_of(own),
           "give both the same flip, crop, resize, resized_crop, affine and perspective");
  if (!own.crop && !own.resized_crop && !own.affine && !own.perspective) return;
  const image_extents extents = extents_of(one, own);
  const image_extents of = extents_of(image, of_image);
  if (extents.height != of.height || extents.width != of.width)
    refuse(
        one,
        "they are " + to_string(one) + " and " + to_string(image) + ", and both are cut or rotated",
        "decode both to the same height and width");
}

}  // namespace

void check_ties(const std::vector<field>& fields, const std::vector<field_transform>& transforms,
                const std::optional<mixing>& mixed) {
  const auto transform_of = [&](const std::string& name) {
    const auto found = std::ranges::find(transforms, name, &field_transform::field);
    return found == transforms.end() ? field_transform{.field = name} : *found;
  };
  for (const field& one : fields) {
    if (!one.tie) continue;
    const auto image = std::ranges::find(fields, one.tie->image, &field::name);
    if (image == fields.end()) continue;
    if (mixed && mixed->image == image->name)
      refuse(one, "mixing mixes that image", "what belongs to it would not be mixed");
    const field_transform of_image = transform_of(image->name);
    if (one.tie->flip) {
      check_coordinates(one, of_image);
    } else {
      check_pixels(one, transform_of(one.name), *image, of_image);
    }
  }
}

}  // namespace feedline::detail
