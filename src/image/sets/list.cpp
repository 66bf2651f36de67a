#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/list.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/sized_images.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr const char* image_name = "image";
constexpr std::string_view white_space = " \t\r\v\f";

/// A line of a list.
struct listed_image {
  std::string path;
  std::string label;
  std::size_t list = 0;
  std::size_t line = 0;  ///< from 1
};

class list_reader {
 public:
  list_reader(const std::vector<std::string>& lists, const image_list_options& options)
      : lists_{lists}, options_{options} {
    for (std::size_t list = 0; list < lists.size(); ++list) read(list);
  }

  [[nodiscard]] const std::vector<listed_image>& images() const noexcept { return images_; }

  [[noreturn]] void refuse(const listed_image& at, const std::string& what) const {
    throw dataset_error{{.path = lists_[at.list], .field = {}},
                        "line " + std::to_string(at.line) + ": " + what};
  }

 private:
  void read(std::size_t list) {
    const std::string text = detail::text_of_file(lists_[list]);
    const std::string root =
        options_.root.empty() ? detail::folder_of(lists_[list]) : options_.root;
    const std::size_t before = images_.size();
    std::string_view rest = text;
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      add(rest.substr(0, end), {.path = {}, .label = {}, .list = list, .line = line}, root);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (images_.size() == before)
      throw dataset_error{{.path = lists_[list], .field = {}}, "lists no image"};
  }

  void add(std::string_view line, listed_image at, const std::string& root) {
    if (line.find('\0') != std::string_view::npos)
      refuse(at, "it has a byte 0, so this is no text file");
    line = line.substr(0, line.find_last_not_of(white_space) + 1);
    line.remove_prefix(std::min(line.find_first_not_of(white_space), line.size()));
    if (line.empty()) return;
    const std::size_t space = line.find_last_of(white_space);
    if (space == std::string_view::npos)
      refuse(at, "'" + detail::printable(line) +
                     "' is one word, but there should be a path, white space and a label; "
                     "open_images opens images without labels");
    at.label = line.substr(space + 1);
    line = line.substr(0, line.find_last_not_of(white_space, space) + 1);
    at.path = detail::path_below(root, std::string{line});
    images_.push_back(std::move(at));
  }

  const std::vector<std::string>& lists_;
  const image_list_options& options_;
  std::vector<listed_image> images_;
};

std::optional<std::uint64_t> as_number(const std::string& label) {
  std::uint64_t number = 0;
  const char* const end = label.data() + label.size();
  const auto [stop, fault] = std::from_chars(label.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// The classes in order; empty: labels are numbers.
std::vector<std::string> classes_of(const std::vector<listed_image>& images,
                                    const image_list_options& options) {
  std::vector<std::string> classes = options.classes;
  if (classes.empty()) {
    if (as_number(images.front().label)) return {};
    for (const listed_image& each : images) classes.push_back(each.label);
    std::ranges::sort(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  }
  return classes;
}

/// Finds the number of a label.
class label_numbers {
 public:
  explicit label_numbers(const std::vector<std::string>& classes) {
    for (std::size_t i = 0; i < classes.size(); ++i) sorted_.emplace_back(classes[i], i);
    std::ranges::sort(sorted_);
    const auto twice = std::ranges::adjacent_find(sorted_, {}, &entry::first);
    if (twice != sorted_.end())
      throw usage_error{"image_list_options::classes has '" + twice->first + "' twice"};
  }

  [[nodiscard]] std::uint64_t of(const listed_image& image, const list_reader& read) const {
    if (sorted_.empty()) {
      if (const auto number = as_number(image.label)) return *number;
      read.refuse(image, "label '" + detail::printable(image.label) +
                             "' is no whole number, but the first label is");
    }
    const auto found = std::ranges::lower_bound(sorted_, image.label, {}, &entry::first);
    if (found != sorted_.end() && found->first == image.label) return found->second;
    read.refuse(image, "label '" + detail::printable(image.label) +
                           "' is not one of image_list_options::classes");
  }

 private:
  using entry = std::pair<std::string, std::uint64_t>;
  std::vector<entry> sorted_;
};

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
  const std::uint64_t largest = detail::largest_label(options.label_type);
  const decoder_ptr decoder = make_image_decoder(options.image);
  const list_reader read{lists, options};
  image_list result;
  result.classes = classes_of(read.images(), options);
  const label_numbers numbers{result.classes};
  const std::size_t label_bytes = size_bytes(options.label_type);
  const auto labels = std::make_shared<std::vector<std::byte>>(read.images().size() * label_bytes);
  for (const listed_image& each : read.images()) {
    const std::uint64_t number = numbers.of(each, read);
    if (number > largest)
      read.refuse(each, "label '" + each.label + "' is number " + std::to_string(number) +
                            ", but " + std::string{to_string(options.label_type)} +
                            " counts only to " + std::to_string(largest) +
                            "; choose a larger image_list_options::label_type");
    detail::write_label(number, options.label_type,
                        std::span{*labels}.subspan(result.paths.size() * label_bytes, label_bytes));
    result.paths.push_back(each.path);
  }
  if (const auto missing = detail::first_missing(result.paths))
    read.refuse(read.images()[*missing],
                "there is no file " + detail::printable(result.paths[*missing]) +
                    "; relative paths begin at " +
                    (options.root.empty() ? "the list's folder" : options.root));
  result.dataset =
      zip({images_of(detail::files_at(result.paths), decoder),
           make_memory_dataset({{{"label",
                                  options.label_type,
                                  {},
                                  {},
                                  {},
                                  result.classes.empty() ? class_names{}
                                                         : class_names{result.classes}},
                                 *labels,
                                 labels}})});
  return result;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
