#include "formats/columns/dataset.hpp"

#include "formats/columns/decoder.hpp"
#include "ragged/record_columns.hpp"

#include <utility>

namespace feedline::detail {

dataset_ptr make_columns_dataset(std::string_view who, const columned_records& of,
                                 const shard_options& options) {
  column_survey survey = survey_columns(who, *of.records, of.layout, options);
  report_left_out(who, "columns", survey.left_out, options.fields);
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
  return list_described(of.records->size(), survey.fields, survey.left_out);
}

shard_options shard_options_of(const open_options& options) {
  shard_options of;
  of.fields = options.fields;
  of.image = make_image_decoder(options.image);
  of.pad = options.pad;
  return of;
}

}  // namespace feedline::detail
