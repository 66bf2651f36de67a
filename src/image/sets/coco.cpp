#include <feedline/error.hpp>
#include <feedline/image/coco.hpp>

#include "image/sets/annotations.hpp"
#include "image/sets/coco_content.hpp"
#include "image/sets/named_paths.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#ifdef FEEDLINE_HAS_JSON

namespace feedline::detail {
namespace {

/// Makes images of a file's content.
class coco_images {
 public:
  coco_images(std::string path, coco_content content)
      : path_{std::move(path)}, content_{std::move(content)} {
    sort("image", content_.images);
    sort("category", content_.categories);
    check_annotation_ids();
    for (const coco_content::annotation& each : content_.annotations)
      points_ = std::max(points_, each.keypoints.size());
  }

  [[nodiscard]] std::vector<annotated_image> images(const std::string& folder) const {
    std::vector<annotated_image> images;
    for (const coco_content::image& each : content_.images)
      images.push_back({.path = path_below(folder, each.file_name),
                        .id = each.id,
                        .height = each.height,
                        .width = each.width});
    for (const coco_content::annotation& each : content_.annotations) {
      annotated_image& to = images[place_of(content_.images, each.image, each, "image")];
      to.labels.push_back(static_cast<std::int32_t>(
          place_of(content_.categories, each.category, each, "category")));
      const auto& [left, top, width, height] = each.box;
      to.boxes.push_back({left, top, left + width, top + height});
      if (!(width >= 0 && height >= 0))
        refuse(each,
               "its box has the size " + std::to_string(width) + " x " + std::to_string(height));
      to.flags.push_back(each.is_crowd ? 1 : 0);
      if (!each.keypoints.empty() && each.keypoints.size() != points_)
        refuse(each, "it has " + std::to_string(each.keypoints.size() / 3) +
                         " key points, but another one has " + std::to_string(points_ / 3));
      to.keypoints.insert(to.keypoints.end(), each.keypoints.begin(), each.keypoints.end());
      to.keypoints.resize(to.boxes.size() * points_);
    }
    return images;
  }

  void name_classes(annotated_images& of) const {
    for (const coco_content::category& each : content_.categories) {
      of.classes.push_back(each.name);
      of.class_ids.push_back(each.id);
    }
  }

 private:
  [[noreturn]] void refuse(const coco_content::annotation& one, const std::string& what) const {
    throw dataset_error{{.path = path_, .field = {}},
                        "annotation " + std::to_string(one.id) + " of image " +
                            std::to_string(one.image) + ": " + what};
  }

  template <class Objects>
  void sort(const char* what, Objects& objects) {
    using object = typename Objects::value_type;
    std::ranges::sort(objects, {}, &object::id);
    const auto twice = std::ranges::adjacent_find(objects, {}, &object::id);
    if (twice != objects.end())
      throw dataset_error{
          {.path = path_, .field = {}},
          "two objects have the " + std::string{what} + " id " + std::to_string(twice->id)};
  }

  void check_annotation_ids() const {
    std::unordered_set<std::int64_t> ids;
    for (const coco_content::annotation& each : content_.annotations)
      if (!ids.insert(each.id).second) refuse(each, "another annotation has this id, too");
  }

  template <class Objects>
  [[nodiscard]] std::size_t place_of(const Objects& objects, std::int64_t id,
                                     const coco_content::annotation& for_one,
                                     const char* what) const {
    const auto found = std::ranges::lower_bound(objects, id, {}, &Objects::value_type::id);
    if (found == objects.end() || found->id != id)
      refuse(for_one, "there is no " + std::string{what} + " with id " + std::to_string(id));
    return static_cast<std::size_t>(found - objects.begin());
  }

  std::string path_;
  coco_content content_;
  std::size_t points_ = 0;  ///< numbers of an annotation's key points
};

}  // namespace
}  // namespace feedline::detail

#endif

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

annotated_images open_coco(const std::string& images, const std::string& annotations,
                           const annotation_options& options) {
#ifdef FEEDLINE_HAS_JSON
  const detail::coco_images read{annotations,
                                 detail::read_coco(annotations, detail::text_of_file(annotations))};
  annotated_images result = detail::make_annotated(
      read.images(images), options, {.flags = "crowd", .size_source = annotations + " says"});
  read.name_classes(result);
  return result;
#else
  (void)images;
  (void)options;
  throw dataset_error{{.path = annotations, .field = {}},
                      "this feedline was built without nlohmann-json; install nlohmann-json3-dev, "
                      "and build feedline again"};
#endif
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
