#include <feedline/image/folder.hpp>

#include "dataset/choose_fields.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_system.hpp"

namespace feedline::detail {
namespace {

image_folder open_folders(const std::vector<std::string>& roots, const open_options& options) {
  return open_image_folder(roots, {.image = options.image, .label_type = options.label_type});
}

std::vector<listed_field> list_images(const std::string& root, const open_options& options) {
  const image_folder opened = open_folders({root}, options);
  std::vector<listed_field> listed = list_opened(*opened.dataset);
  listed.back().classes = opened.classes;  // the classes of "label"
  if (opened.skipped_files != 0)
    listed.push_back({.name = opened.examples.front(),
                      .samples = opened.skipped_files,
                      .left_out = "files such as this one are not named as images (.jpg, .jpeg, "
                                  ".png, .webp, .tif, .tiff, .bmp, .ppm, .pgm), or lie in no "
                                  "class's folder"});
  return listed;
}

}  // namespace

format_entry image_folder_format() {
  return {.name = "image_folder",
          .known_as = "folders of images by class",
          .open =
              [](const std::vector<std::string>& roots, const open_options& options) {
                return choose_fields(open_folders(roots, options).dataset, options.fields);
              },
          .list = list_images,
          .is_folder =
              [](const std::string& path) { return kind_of_entry(path) == entry_kind::folder; }};
}

}  // namespace feedline::detail
