#include "formats/columns/dataset.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "detail/text.hpp"
#include "formats/columns/decoder.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

dataset_ptr make_columns_dataset(std::string_view who, const columned_records& of,
                                 const shard_options& options) {
  column_survey survey = survey_columns(who, *of.records, of.layout, options);
  std::vector<std::string> left_out;
  for (const column_left_out& each : survey.left_out) {
    if (std::ranges::count(options.fields, each.name) != 0)
      throw usage_error{std::string{who} + ": '" + each.name + "' cannot be a field: it " +
                        each.reason};
    left_out.push_back("'" + each.name + "' " + each.reason);
  }
  if (options.fields.empty() && !left_out.empty())
    log()->warn("{}: columns are left out: {}", who, list_names(left_out));
  return make_record_dataset(who, of.records,
                             make_columns_decoder(of.layout, std::move(survey.fields)),
                             {.fields = options.fields, .pad = options.pad});
}

ragged_dataset_ptr make_column_ragged(std::string_view who, const columned_records& of,
                                      const std::string& field, const shard_options& options) {
  column_survey survey = survey_columns(who, *of.records, of.layout, options);
  return make_ragged_field(of.records, make_columns_decoder(of.layout, std::move(survey.fields)),
                           field);
}

std::vector<listed_field> list_columns(std::string_view who, const columned_records& of,
                                       const shard_options& options) {
  const column_survey survey = survey_columns(who, *of.records, of.layout, options);
  std::vector<listed_field> listed;
  for (const column_field& each : survey.fields)
    listed.push_back({.name = each.as.spec.name,
                      .samples = of.records->size(),
                      .spec = each.as.spec,
                      .is_ragged = each.as.is_ragged});
  for (const column_left_out& each : survey.left_out)
    listed.push_back({.name = each.name, .left_out = each.reason});
  return listed;
}

shard_options shard_options_of(const open_options& options) {
  shard_options of;
  of.fields = options.fields;
  of.image = make_image_decoder(options.image);
  of.pad = options.pad;
  return of;
}

}  // namespace feedline::detail
