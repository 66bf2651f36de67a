#include <feedline/error.hpp>
#include <feedline/formats/json_lines.hpp>

#include "formats/json_lines/table.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_system.hpp"
#include "io/text_kind.hpp"

namespace feedline::detail {
namespace {

bool is_lines_of_objects(const probed_file& file) {
  return is_json_lines(file.content) && !is_coco(file.content);
}

#ifdef FEEDLINE_HAS_JSON
std::vector<listed_field> list_json_lines(const std::string& file, const open_options& options) {
  table_options all = table_options_of(options);
  all.fields.clear();
  return list_table(open_json_table({open_file(file)}, all));
}
#endif

}  // namespace

format_entry json_lines_format() {
  return {.name = "json_lines",
          .known_as = "JSON lines",
          .is = is_lines_of_objects,
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_json_lines(paths, table_options_of(options));
              },
#ifdef FEEDLINE_HAS_JSON
          .list = list_json_lines,
#endif
          .takes_pad = true,
          .takes_columns = true};
}

}  // namespace feedline::detail

#ifndef FEEDLINE_HAS_JSON
namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

[[noreturn]] void refuse_json_lines(const std::vector<std::string>& files) {
  throw dataset_error{
      {.path = files.empty() ? "" : files.front(), .field = {}},
      "this feedline was built without nlohmann-json, which reads JSON lines: install it "
      "(nlohmann-json3-dev), build feedline again"};
}

}  // namespace

dataset_ptr open_json_lines(const std::vector<std::string>& files, const table_options&) {
  refuse_json_lines(files);
}
ragged_dataset_ptr open_json_lines_ragged(const std::vector<std::string>& files, const std::string&,
                                          const table_options&) {
  refuse_json_lines(files);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
#endif
