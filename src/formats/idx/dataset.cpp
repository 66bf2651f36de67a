#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/formats/idx.hpp>

#include "formats/idx/array.hpp"
#include "io/file_source.hpp"

#include <string>
#include <utility>

namespace feedline {
namespace {

detail::idx_array read_file(const detail::file_field& name) {
  detail::file_source file{name};
  return detail::read_idx(file, name);
}

}  // namespace

dataset_ptr open_idx(const std::string& images, const std::string& labels) {
  const detail::file_field image{images, "image"};
  const detail::file_field label{labels, "label"};

  // The labels first: they are soon read, and tell most mistakes about which file is which.
  const detail::idx_array label_array = read_file(label);
  const auto& extents = label_array.header.extents;
  if (extents.size() != 1)
    throw label.error(3, "labels are one-dimensional, but this file holds " +
                             label_array.header.describe() +
                             "; check that images and labels are not swapped");
  const detail::idx_array image_array = read_file(image);
  if (image_array.header.extents[0] != extents[0])
    throw label.error(detail::idx_magic_bytes, "holds " + std::to_string(extents[0]) +
                                                   " labels, but " + image.path + " holds " +
                                                   std::to_string(image_array.header.extents[0]) +
                                                   " images; use the two files of one set");
  return make_memory_dataset(
      {detail::to_field(image_array, image.field), detail::to_field(label_array, label.field)});
}

dataset_ptr open_idx_file(const std::string& file, std::string field_name) {
  const detail::idx_array array = read_file({file, field_name});
  return make_memory_dataset({detail::to_field(array, std::move(field_name))});
}

}  // namespace feedline
