#ifdef FEEDLINE_HAS_JSON

#include "formats/json_lines/table.hpp"

#include <feedline/formats/json_lines.hpp>

#include "formats/json_lines/parser.hpp"

#include <memory>
#include <utility>

namespace feedline::detail {

opened_table open_json_table(const std::vector<byte_file_ptr>& stored,
                             const table_options& options) {
  const auto [files, blocks] = unpack_text_files(stored, options.max_host_cache_bytes);
  std::vector<line_index> indexes =
      index_lines(files, std::nullopt, options.index_folder, "open_json_lines");
  std::vector<line_values::indexed_file> indexed;
  for (std::size_t i = 0; i < files.size(); ++i)
    indexed.push_back({files[i], std::move(indexes[i])});
  opened_table opened{std::make_shared<const line_values>(std::move(indexed), blocks), nullptr, {}};
  json_keys keys;
  const table_survey survey =
      survey_table(*opened.records, *make_json_survey_parser(keys), options.looked_at, false);
  opened.plan = plan_table("open_json_lines", *opened.records, keys.columns, survey, options);
  opened.by = make_json_parser(std::move(keys));
  return opened;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_json_lines(const std::vector<std::string>& files, const table_options& options) {
  return detail::make_table_dataset(
      "open_json_lines",
      detail::open_json_table(detail::open_text_files("open_json_lines", files), options), options);
}

ragged_dataset_ptr open_json_lines_ragged(const std::vector<std::string>& files,
                                          const std::string& field, const table_options& options) {
  table_options one = options;
  one.fields = {field};
  return detail::make_table_ragged(
      detail::open_json_table(detail::open_text_files("open_json_lines", files), one), field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

#endif
