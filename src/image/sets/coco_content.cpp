#ifdef FEEDLINE_HAS_JSON

#include "image/sets/coco_content.hpp"

#include <feedline/error.hpp>

#include "detail/image_side.hpp"
#include "detail/printable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

namespace feedline::detail {
namespace {

using json = nlohmann::json;

/// Takes the objects of the file's lists one by one, as they are parsed.
class coco_objects {
 public:
  explicit coco_objects(const std::string& path) : path_{path} {}

  [[nodiscard]] coco_content read(std::string_view text) {
    json rest;
    try {
      rest = json::parse(text.begin(), text.end(),
                         [this](int depth, json::parse_event_t event, json& parsed) {
                           return is_kept(depth, event, parsed);
                         });
    } catch (const json::exception& error) {
      refuse("it is no JSON: " + printable(error.what()));
    }
    for (const char* const list : {"images", "annotations", "categories"})
      if (!rest.is_object() || !rest.contains(list) || !rest[list].is_array() ||
          !rest[list].empty())
        refuse(std::string{"it has no list \""} + list +
               "\" of objects: COCO's instances and key points have all three lists, captions and "
               "panoptic sets do not");
    return std::move(content_);
  }

 private:
  /// Segmentations, and objects that were taken, are not kept, so they take no memory.
  bool is_kept(int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) {
      list_ = parsed.get<std::string>();
      return list_ == "images" || list_ == "annotations" || list_ == "categories";
    }
    if (event == json::parse_event_t::key) return parsed != "segmentation";
    if (event != json::parse_event_t::object_end || depth != 2) return true;
    object_ = &parsed;
    if (list_ == "images") {
      content_.images.push_back({whole("id"), text("file_name"), side("height"), side("width")});
    } else if (list_ == "categories") {
      content_.categories.push_back({whole("id"), text("name")});
    } else {
      content_.annotations.push_back(annotation());
    }
    return false;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw dataset_error{{.path = path_, .field = {}}, what};
  }
  [[noreturn]] void refuse_member(const char* name, const std::string& wanted) const {
    const auto id = object_->find("id");
    const std::string which =
        id == object_->end() || !id->is_number() ? "" : " with id " + id->dump();
    const auto value = object_->find(name);
    refuse("an object of \"" + list_ + "\"" + which +
           (value == object_->end() ? std::string{" has no \""} + name + '"'
                                    : std::string{": \""} + name + "\" is " + shown(*value) +
                                          ", but should be " + wanted));
  }
  /// The value, shortened. Nested values may be too deep to be written.
  [[nodiscard]] static std::string shown(const json& value) {
    constexpr std::size_t max_bytes = 60;
    const bool is_deep = value.is_object() || std::ranges::any_of(value, &json::is_structured);
    if (is_deep) return value.is_object() ? "an object" : "a list of lists or objects";
    return printable(
        value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, max_bytes));
  }

  [[nodiscard]] std::int64_t whole(const char* name) const {
    const auto value = object_->find(name);
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value != object_->end() && value->is_number_integer() &&
        (!value->is_number_unsigned() || value->get<std::uint64_t>() <= largest))
      return value->get<std::int64_t>();
    if (value != object_->end() && value->is_number_float())  // some programs write 640.0
      if (const auto number = value->get<double>();
          number == std::floor(number) && std::abs(number) < 1e15)
        return static_cast<std::int64_t>(number);
    refuse_member(name, "a whole number");
  }
  [[nodiscard]] std::uint32_t side(const char* name) const {
    const std::int64_t value = whole(name);
    if (!is_image_side(value))
      refuse_member(name, "1 to " + std::to_string(max_image_side) + " pixels");
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::string text(const char* name) const {
    const auto value = object_->find(name);
    if (value == object_->end() || !value->is_string()) refuse_member(name, "a text");
    return value->get<std::string>();
  }
  [[nodiscard]] std::vector<float> numbers(const char* name, const std::string& wanted) const {
    std::vector<float> all;
    const auto value = object_->find(name);
    if (value == object_->end() || !value->is_array()) refuse_member(name, wanted);
    for (const json& one : *value) {
      if (!one.is_number()) refuse_member(name, wanted);
      all.push_back(one.get<float>());
    }
    return all;
  }

  [[nodiscard]] coco_content::annotation annotation() const {
    coco_content::annotation one{
        .id = whole("id"), .image = whole("image_id"), .category = whole("category_id")};
    const std::string four = "four numbers";
    const std::vector<float> box = numbers("bbox", four);
    if (box.size() != 4) refuse_member("bbox", four);
    std::ranges::copy(box, one.box.begin());
    if (const auto crowd = object_->find("iscrowd"); crowd != object_->end())
      one.is_crowd = crowd->is_boolean() ? crowd->get<bool>() : whole("iscrowd") != 0;
    if (object_->contains("keypoints")) {
      const std::string threes = "three numbers for each point";
      one.keypoints = numbers("keypoints", threes);
      if (one.keypoints.size() % 3 != 0) refuse_member("keypoints", threes);
    }
    return one;
  }

  const std::string& path_;
  coco_content content_;
  std::string list_;  ///< the member of the file's object that is being read
  const json* object_ = nullptr;
};

}  // namespace

coco_content read_coco(const std::string& path, std::string_view text) {
  return coco_objects{path}.read(text);
}

}  // namespace feedline::detail

#endif
