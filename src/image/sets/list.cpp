#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/list.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/path_list.hpp"
#include "image/sets/sized_images.hpp"

#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr const char* image_name = "image";

dataset_ptr images_of(detail::image_files files, const decoder_ptr& decoder) {
  return detail::make_image_dataset(std::move(files), image_name, decoder);
}

}  // namespace

image_list open_images(const std::vector<std::string>& roots, const image_options& image) {
  if (roots.empty()) throw usage_error{"images: there is no root"};
  const decoder_ptr decoder = make_image_decoder(image);
  image_list result;
  image_folder told;
  for (const std::string& root : roots) {
    const detail::image_files files = detail::image_lister::list_all(root, {}, told);
    for (std::uint64_t i = 0; i < files.files.size(); ++i) result.paths.push_back(files.path_of(i));
  }
  result.skipped_files = told.skipped_files;
  result.examples = std::move(told.examples);
  if (result.skipped_files != 0)
    detail::log()->warn(
        "images in {}: {} files are left out, such as {}: they are not named as images (.jpg, "
        ".jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm)",
        detail::list_names(roots), result.skipped_files,
        detail::printable(result.examples.front()));
  result.dataset = images_of(detail::files_at(result.paths), decoder);
  return result;
}

image_list open_image_list(const std::vector<std::string>& lists,
                           const image_list_options& options) {
  if (lists.empty()) throw usage_error{"image list: there is no list"};
  const decoder_ptr decoder = make_image_decoder(options.image);
  detail::path_list listed = detail::read_path_lists(lists, {.root = options.root,
                                                             .classes = options.classes,
                                                             .label_type = options.label_type,
                                                             .name = "image_list_options",
                                                             .thing = "image"});
  image_list result;
  result.classes = std::move(listed.classes);
  result.paths = std::move(listed.paths);
  result.dataset = zip({images_of(detail::files_at(result.paths), decoder), listed.labels});
  return result;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
