#include <feedline/dataset/record_decoder.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/file_list.hpp>
#include <feedline/image/list.hpp>

#include "dataset/choose_fields.hpp"
#include "formats/array_files/container.hpp"
#include "formats/array_files/values.hpp"
#include "formats/open/format_entry.hpp"
#include "image/sets/image_files.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/path_list.hpp"
#include "io/file_system.hpp"
#include "io/text_kind.hpp"
#include "ragged/record_columns.hpp"

#include <memory>
#include <utility>

namespace feedline::detail {
namespace {

/// The content of a file as a ragged field "bytes".
class whole_file_decoder final : public record_decoder {
 public:
  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return {{{"bytes", element_type::u8, {}}, true}};
  }
  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context&) const override {
    if (!out.wants(0)) return;
    const std::string path = path_of_sample(stored);
    const file_system_ptr files = file_system_of(path);
    if (files->size_of(path) <= file_system::max_whole_bytes) {
      (void)files->read_whole(path, [&](std::size_t bytes) { return out.ragged(0, bytes); });
      return;
    }
    const byte_file_ptr file = files->open(path, file_access::automatic);
    if (const auto to = out.ragged(0, file->size()); !to.empty()) file->read(0, to);
    file->require_unchanged();
  }
};

dataset_ptr open_other_files(const path_list& listed, const file_list_options& options) {
  if (is_array_file_name(listed.paths.front()))
    return open_array_files(listed.paths, {.fields = {}, .pad = options.pad});
  return make_record_dataset("open_file_list", std::make_shared<const sample_files>(listed.paths),
                             std::make_shared<const whole_file_decoder>(),
                             {.fields = {}, .pad = options.pad});
}

file_list_options list_options_of(const open_options& options) {
  return {.image = options.image, .label_type = options.label_type, .pad = options.pad};
}

/// A table of two columns without a header would look the same, except for its paths.
bool is_list_of_files(const probed_file& file) try {
  if (file.is_compressed || !is_text(file.head)) return false;
  return is_path_list({reinterpret_cast<const char*>(file.head.data()), file.head.size()},
                      folder_of(file.file.name()));
} catch (const dataset_error&) {  // other formats have their say
  return false;
}

}  // namespace

format_entry file_list_format() {
  return {.name = "file_list",
          .known_as = "lists of files with labels",
          .is = is_list_of_files,
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return choose_fields(open_file_list(paths, list_options_of(options)),
                                     options.fields);
              },
          .list =
              [](const std::string& path, const open_options& options) {
                const dataset_ptr opened = open_file_list({path}, list_options_of(options));
                std::vector<listed_field> listed = list_opened(*opened);
                listed.back().classes = opened->fields().back().classes.get();
                return listed;
              },
          .takes_pad = true};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_file_list(const std::vector<std::string>& lists,
                           const file_list_options& options) {
  if (lists.empty()) throw usage_error{"open_file_list: there is no list"};
  const std::vector<std::string> paths = expand_paths(lists);
  const detail::path_list listed = detail::read_path_lists(paths, {.root = options.root,
                                                                   .classes = options.classes,
                                                                   .label_type = options.label_type,
                                                                   .name = "file_list_options",
                                                                   .thing = "file"});
  if (!detail::is_named_as_image(listed.paths.front()))
    return zip({detail::open_other_files(listed, options), listed.labels});
  if (!options.pad.empty())
    throw usage_error{
        "open_file_list: file_list_options::pad is for ragged fields, but the files are images; "
        "leave it out"};
  return open_image_list(paths, {.root = options.root,
                                 .classes = options.classes,
                                 .image = options.image,
                                 .label_type = options.label_type})
      .dataset;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
