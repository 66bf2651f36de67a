#include <feedline/formats/idx.hpp>

#include "formats/idx/array.hpp"
#include "formats/open/format_entry.hpp"

namespace feedline::detail {
namespace {

/// CIFAR's records may begin like an IDX file, but their length differs from the one in that
/// header.
bool is_idx_file(const probed_file& file) {
  return file.is_compressed ? may_be_idx(file.content) : is_idx(file.head, file.file.size());
}

dataset_ptr open_one_idx(const std::string& path, const open_options& options) {
  dataset_ptr images = open_idx_file(path, only_name(options, "idx", "image"));
  if (!options.fields.empty() || !images->fields().front().shape.empty()) return images;
  return open_idx_file(path, "label");  // labels are small; reading them again is cheap
}

}  // namespace

format_entry idx_format() {
  return {.name = "idx",
          .known_as = "IDX files (plain or gzip)",
          .is = is_idx_file,
          .may_be = [](const probed_file& file) { return may_be_idx(file.content); },
          .open =
              [](const std::vector<std::string>& files, const open_options& options) {
                return open_each(files,
                                 [&](const auto& path) { return open_one_idx(path, options); });
              }};
}

}  // namespace feedline::detail
