#pragma once

#include <feedline/dataset/class_names.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/element_type.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Options of lists of paths, whatever the files are.
struct path_list_options {
  std::string root = {};                  ///< same as `image_list_options::root`
  std::vector<std::string> classes = {};  ///< same as `image_list_options::classes`
  element_type label_type = element_type::i32;
  std::string_view name = {};   ///< names the options in messages: "image_list_options"
  std::string_view thing = {};  ///< names what is listed: "image"
};

/// The files that lists name, and a field "label" of them.
struct path_list {
  std::vector<std::string> paths;
  std::vector<std::string> classes;  ///< empty: labels are numbers
  dataset_ptr labels;
};

/// Reads lists of lines "path label". @throws as `open_image_list`.
[[nodiscard]] path_list read_path_lists(const std::vector<std::string>& lists,
                                        const path_list_options& options);

/// Whether the first lines of a text are paths of files below a folder, with a label each.
/// @param text May end within a line.
[[nodiscard]] bool is_path_list(std::string_view text, const std::string& folder);

}  // namespace feedline::detail
