#include <feedline/error.hpp>
#include <feedline/image/voc.hpp>

#include "detail/printable.hpp"
#include "detail/threads.hpp"
#include "image/sets/annotations.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/voc_file.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

#ifdef FEEDLINE_HAS_PUGIXML

std::vector<std::string> voc_classes(const std::vector<std::string>& given) {
  if (given.empty())
    return {"aeroplane", "bicycle",     "bird",  "boat",        "bottle", "bus",      "car",
            "cat",       "chair",       "cow",   "diningtable", "dog",    "horse",    "motorbike",
            "person",    "pottedplant", "sheep", "sofa",        "train",  "tvmonitor"};
  std::vector<std::string> sorted = given;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) throw usage_error{"open_voc: classes has '" + *twice + "' twice"};
  return given;
}

/// The names in a list, each of which is a line.
std::vector<std::string> listed_names(const std::string& list) {
  std::istringstream text{detail::text_of_file(list)};
  std::vector<std::string> names;
  std::string line;
  for (std::uint64_t number = 1; std::getline(text, line); ++number) {
    std::istringstream words{line};
    std::string name;
    if (!(words >> name)) continue;
    if (std::string second; words >> second)
      throw dataset_error{{.path = list, .field = {}},
                          "line " + std::to_string(number) + ": '" + detail::printable(line) +
                              "' has several words, but a name was expected; lists of one class, "
                              "such as dog_train.txt, are not for detection"};
    names.push_back(std::move(name));
  }
  if (names.empty()) throw dataset_error{{.path = list, .field = {}}, "lists no image"};
  return names;
}

#endif

}  // namespace

annotated_images open_voc(const std::string& root, const std::string& names,
                          const std::vector<std::string>& classes,
                          const annotation_options& options) {
  const std::filesystem::path folder{root};
  const std::string list = (folder / "ImageSets" / "Main" / (names + ".txt")).string();
#ifdef FEEDLINE_HAS_PUGIXML
  const std::vector<std::string> all_classes = voc_classes(classes);
  const std::vector<std::string> listed = listed_names(list);
  std::vector<annotated_image> images(listed.size());
  detail::parallel_for(listed.size(), [&](std::size_t i) {
    const std::string xml = (folder / "Annotations" / (listed[i] + ".xml")).string();
    std::string file;
    images[i] = detail::read_voc(xml, detail::text_of_file(xml), all_classes, file);
    images[i].id = static_cast<std::int64_t>(i);
    images[i].path = (folder / "JPEGImages" / (file.empty() ? listed[i] + ".jpg" : file)).string();
  });
  annotated_images result = detail::make_annotated(
      images, options, {.flags = "difficult", .size_source = "its file of annotations says"});
  result.classes = all_classes;
  return result;
#else
  (void)classes;
  (void)options;
  throw dataset_error{{.path = list, .field = {}},
                      "this feedline was built without pugixml; install libpugixml-dev, and build "
                      "feedline again"};
#endif
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
