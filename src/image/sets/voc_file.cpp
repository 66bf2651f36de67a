#ifdef FEEDLINE_HAS_PUGIXML

#include "image/sets/voc_file.hpp"

#include <feedline/error.hpp>

#include "detail/image_side.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <pugixml.hpp>

namespace feedline::detail {
namespace {

class voc_file {
 public:
  voc_file(const std::string& path, const std::vector<std::string>& classes)
      : path_{path}, classes_{classes} {}

  [[nodiscard]] annotated_image read(std::string_view text, std::string& file_name) const {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
      refuse("it is no XML: at byte " + std::to_string(parsed.offset) + ", " +
             parsed.description());
    const pugi::xml_node root = document.child("annotation");
    if (!root) refuse("it has no element <annotation>, so it is not of VOC's format");
    file_name = root.child("filename").text().get();
    annotated_image image;
    image.height = side(root, "height");
    image.width = side(root, "width");
    std::size_t number = 0;
    for (const pugi::xml_node object : root.children("object"))
      add(object, "object " + std::to_string(number++), image);
    return image;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw dataset_error{{.path = path_, .field = {}}, what};
  }

  [[nodiscard]] float number(const pugi::xml_node& from, const char* name,
                             const std::string& which) const {
    const std::string_view text = trimmed(from.child(name).text().get());
    float value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size())
      refuse(which + " has " + (text.empty() ? "no" : "'" + printable(text) + "' as") + " <" +
             name + ">, but should have a number");
    return value;
  }

  [[nodiscard]] std::uint32_t side(const pugi::xml_node& root, const char* name) const {
    const float value = number(root.child("size"), name, "its <size>");
    if (!detail::is_image_side(value))
      refuse("its <size> has " + detail::text_of(double{value}) + " as <" + name +
             ">, but a side is 1 to " + std::to_string(detail::max_image_side) + " pixels long");
    return static_cast<std::uint32_t>(value);
  }

  void add(const pugi::xml_node& object, const std::string& which, annotated_image& to) const {
    const std::string name{trimmed(object.child("name").text().get())};
    const auto found = std::ranges::find(classes_, name);
    if (found == classes_.end())
      refuse(which + " is a '" + printable(name) + "', which is not one of the classes " +
             list_names(classes_) + "; name all of them in `classes`");
    const pugi::xml_node box = object.child("bndbox");
    to.boxes.push_back({number(box, "xmin", which) - 1, number(box, "ymin", which) - 1,
                        number(box, "xmax", which), number(box, "ymax", which)});
    to.labels.push_back(static_cast<std::int32_t>(found - classes_.begin()));
    const bool has_flag = !object.child("difficult").empty();
    to.flags.push_back(has_flag && number(object, "difficult", which) != 0 ? 1 : 0);
  }

  [[nodiscard]] static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white_space = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    return text.substr(0, text.find_last_not_of(white_space) + 1);
  }

  const std::string& path_;
  const std::vector<std::string>& classes_;
};

}  // namespace

annotated_image read_voc(const std::string& path, std::string_view text,
                         const std::vector<std::string>& classes, std::string& file_name) {
  return voc_file{path, classes}.read(text, file_name);
}

}  // namespace feedline::detail

#endif
