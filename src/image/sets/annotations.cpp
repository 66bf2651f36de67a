#include "image/sets/annotations.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "detail/threads.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/sized_images.hpp"
#include "io/byte_file.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace feedline::detail {
namespace {

using box = std::array<float, 4>;

std::string numbers_of(const box& of) {
  std::string text;
  for (const float value : of) text += (text.empty() ? "" : " ") + detail::text_of(double{value});
  return text;
}

class annotation_check {
 public:
  annotation_check(const annotation_options& options, annotated_images& told)
      : options_{options}, told_{told} {}

  void add(const annotated_image& image, image_extents extents) {
    image_ = &image;
    extents_ = extents;
    check_counts();
    const std::size_t before = table_.boxes.size();
    for (std::size_t i = 0; i < image.boxes.size(); ++i)
      if (!options_.skip_flagged || image.flags.empty() || image.flags[i] == 0) add_box(i);
    const std::size_t count = table_.boxes.size() - before;
    if (count == 0 && options_.skip_empty) return;
    if (options_.max_boxes != 0 && count > options_.max_boxes &&
        options_.longer == pad_longer::error)
      refuse("has " + std::to_string(count) + " boxes, and annotation_options::max_boxes is " +
             std::to_string(options_.max_boxes) + "; raise it, or set longer to truncate");
    table_.ends.push_back(table_.boxes.size());
    table_.ids.push_back(image.id);
    table_.sizes.push_back({extents.height, extents.width});
    told_.paths.push_back(image.path);
  }

  [[nodiscard]] annotation_table take() {
    if (table_.ends.empty())
      throw usage_error{"annotated images: there is no image" +
                        std::string{image_ == nullptr ? "" : " with a box"}};
    return std::move(table_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw dataset_error{{.path = image_->path, .field = {}},
                        "image " + std::to_string(image_->id) + ' ' + what};
  }

  void check_counts() {
    const std::size_t boxes = image_->boxes.size();
    const auto as_many = [&](std::size_t count, const std::string& what) {
      if (count != boxes)
        refuse("has " + std::to_string(boxes) + " boxes, but " + std::to_string(count) + what);
    };
    as_many(image_->labels.size(), " labels");
    if (!image_->flags.empty()) as_many(image_->flags.size(), " flags");
    if (boxes == 0 && image_->keypoints.empty()) return;
    const std::uint64_t points = boxes == 0 ? 0 : image_->keypoints.size() / 3 / boxes;
    if (points * 3 * boxes != image_->keypoints.size())
      refuse("has " + std::to_string(image_->keypoints.size()) + " numbers of key points for " +
             std::to_string(boxes) + " boxes, but a point has three, and all boxes as many");
    if (has_boxes_ && points != table_.points_per_box)
      refuse("has " + std::to_string(points) + " key points a box, but others have " +
             std::to_string(table_.points_per_box));
    table_.points_per_box = points;
    has_boxes_ = true;
  }

  void add_box(std::size_t i) {
    const box& given = image_->boxes[i];
    const std::string which = "has box " + std::to_string(i) + ", " + numbers_of(given) + ", ";
    if (!std::ranges::all_of(given, [](float value) { return std::isfinite(value); }))
      refuse(which + "which is not finite");
    if (given[2] < given[0] || given[3] < given[1]) refuse(which + "of negative size");
    if (image_->labels[i] < 0)
      refuse(which + "with label " + std::to_string(image_->labels[i]) + "; labels count from 0");
    const auto width = static_cast<float>(extents_.width);
    const auto height = static_cast<float>(extents_.height);
    const std::string size =
        std::to_string(extents_.width) + " x " + std::to_string(extents_.height);
    if (given[0] > width || given[1] > height || given[2] < 0 || given[3] < 0)
      refuse(which + "which is outside of its " + size + " pixels");
    const box inside{std::clamp(given[0], 0.0F, width), std::clamp(given[1], 0.0F, height),
                     std::clamp(given[2], 0.0F, width), std::clamp(given[3], 0.0F, height)};
    if (!(inside[2] > inside[0] && inside[3] > inside[1]))
      return tell(told_.dropped_boxes, which + "which has no area");
    constexpr float rounding = 0.5F;  // pixels
    for (std::size_t k = 0; k < 4; ++k)
      if (std::abs(inside[k] - given[k]) > rounding) {
        tell(told_.clipped_boxes, which + "which reaches out of its " + size + " pixels");
        break;
      }
    table_.boxes.push_back(inside);
    table_.labels.push_back(image_->labels[i]);
    if (!image_->flags.empty()) {
      table_.flags.resize(table_.boxes.size());
      table_.flags.back() = image_->flags[i];
    }
    const std::size_t numbers = 3 * table_.points_per_box;
    for (std::size_t k = i * numbers; k < (i + 1) * numbers; ++k) {
      if (!std::isfinite(image_->keypoints[k]))
        refuse(which + "with a key point that is not finite");
      table_.keypoints.push_back(image_->keypoints[k]);
    }
  }

  void tell(std::uint64_t& count, const std::string& what) {
    constexpr std::size_t max_examples = 10;
    ++count;
    if (told_.examples.size() < max_examples)
      told_.examples.push_back(image_->path + ": image " + std::to_string(image_->id) + ' ' + what);
  }

  const annotation_options& options_;
  annotated_images& told_;
  annotation_table table_;
  const annotated_image* image_ = nullptr;
  image_extents extents_;
  bool has_boxes_ = false;
};

std::vector<image_extents> extents_of(const std::vector<annotated_image>& images,
                                      bool follows_orientation) {
  std::vector<image_extents> extents(images.size());
  parallel_for(images.size(), [&](std::size_t i) {
    extents[i] = {images[i].height, images[i].width};
    if (images[i].height != 0 || images[i].width != 0) return;
    const auto found = extents_in_file(images[i].path, follows_orientation);
    if (!found)
      throw dataset_error{{.path = images[i].path, .field = {}},
                          "image " + std::to_string(images[i].id) +
                              " has no size: the file is of no format of images, or damaged"};
    extents[i] = *found;
  });
  return extents;
}

void check_files(const std::vector<annotated_image>& images) {
  std::vector<std::string> paths;
  std::unordered_map<std::int64_t, const annotated_image*> by_id;
  for (const annotated_image& image : images) {
    paths.push_back(image.path);
    const auto [other, is_new] = by_id.emplace(image.id, &image);
    if (!is_new)
      throw dataset_error{{.path = image.path, .field = {}},
                          "has the id " + std::to_string(image.id) + ", like " +
                              other->second->path + "; each image has its own"};
    if ((image.height == 0) != (image.width == 0))
      throw dataset_error{{.path = image.path, .field = {}},
                          "image " + std::to_string(image.id) + " has the size " +
                              std::to_string(image.width) + " x " + std::to_string(image.height)};
  }
  if (const auto missing = first_missing(paths))
    throw dataset_error{{.path = paths[*missing], .field = {}},
                        "there is no such file, for image " + std::to_string(images[*missing].id)};
}

}  // namespace

annotation_table checked_annotations(const std::vector<annotated_image>& images,
                                     const annotation_options& options, annotated_images& told) {
  check_files(images);
  annotation_check check{options, told};
  const auto extents = extents_of(images, options.image.follow_orientation);
  for (std::size_t i = 0; i < images.size(); ++i) check.add(images[i], extents[i]);
  annotation_table table = check.take();
  if (!table.flags.empty()) table.flags.resize(table.boxes.size());
  return table;
}

}  // namespace feedline::detail
