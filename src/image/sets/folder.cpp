#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "image/sets/image_files.hpp"
#include "image/sets/sized_images.hpp"

#include <algorithm>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr const char* image_field = "image";

/// Classes of all roots, in byte order, each once.
std::vector<std::string> classes_of(const std::vector<detail::image_lister>& listers) {
  std::vector<std::string> classes;
  for (const detail::image_lister& lister : listers)
    classes.insert(classes.end(), lister.classes().begin(), lister.classes().end());
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

}  // namespace

image_folder open_image_folder(const std::string& root, const image_folder_options& options) {
  return open_image_folder(std::vector<std::string>{root}, options);
}

image_folder open_image_folder(const std::vector<std::string>& roots,
                               const image_folder_options& options) {
  if (roots.empty()) throw usage_error{"image folder: there is no root"};
  const std::uint64_t largest = detail::largest_label(options.label_type);
  const decoder_ptr decoder =
      make_image_decoder(options.image);  // checks the options before a long listing
  image_folder result;
  std::vector<detail::image_lister> listers;
  for (const std::string& root : roots)
    listers.emplace_back(root, roots.size() == 1 ? root : std::string{}, result);
  result.classes = classes_of(listers);
  if (result.classes.size() - 1 > largest)
    throw dataset_error{{.path = roots.front(), .field = "label"},
                        "holds " + std::to_string(result.classes.size()) + " classes, but " +
                            std::string{to_string(options.label_type)} + " counts only " +
                            std::to_string(largest + 1) +
                            "; choose a larger image_folder_options::label_type"};
  detail::image_files found;
  const std::size_t label_bytes = size_bytes(options.label_type);
  const auto labels = std::make_shared<std::vector<std::byte>>();
  for (detail::image_lister& lister : listers)
    for (const std::string& name : lister.classes()) {
      lister.list_class(name, found);
      const auto label = static_cast<std::uint64_t>(std::ranges::lower_bound(result.classes, name) -
                                                    result.classes.begin());
      std::size_t at = labels->size();
      for (labels->resize(found.files.size() * label_bytes); at < labels->size(); at += label_bytes)
        detail::write_label(label, options.label_type, std::span{*labels}.subspan(at, label_bytes));
    }
  found.names.shrink_to_fit();
  found.files.shrink_to_fit();
  labels->shrink_to_fit();
  if (result.skipped_files != 0)
    detail::log()->warn(
        "image folder {}: {} files are left out, such as {}: they are not named as images (.jpg, "
        ".jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm), or lie in no class's folder",
        detail::printable(detail::list_names(roots)), result.skipped_files,
        detail::printable(result.examples.front()));
  if (std::ranges::any_of(listers,
                          [&](const auto& one) { return one.classes() != result.classes; }))
    detail::log()->warn(
        "image folders {}: not every one has all classes; labels count the classes of all of them, "
        "from 0: {}",
        detail::printable(detail::list_names(roots)), detail::list_names(result.classes));
  result.dataset = zip(
      {detail::make_image_dataset(std::move(found), image_field, decoder),
       make_memory_dataset({{{"label", options.label_type, {}, {}, {}, class_names{result.classes}},
                             *labels,
                             labels}})});
  return result;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
