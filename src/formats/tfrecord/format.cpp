#include "formats/open/format_entry.hpp"
#include "formats/tfrecord/index.hpp"
#include "formats/tfrecord/records.hpp"

namespace feedline::detail {
namespace {

tfrecord_options options_of(const open_options& options) {
  return {.fields = options.fields, .image = make_image_decoder(options.image), .pad = options.pad};
}

/// Fields as they are in records: ragged ones are not padded, so no pass over all records is made.
std::vector<listed_field> list_tfrecord(const std::string& file, const open_options& options) {
  const auto opened = open_examples(open_record_files({file}), options_of(options));
  std::vector<listed_field> listed;
  for (const example_field& each : opened.survey.fields)
    listed.push_back({.name = each.as.spec.name,
                      .samples = opened.records->size(),
                      .spec = each.as.spec,
                      .is_ragged = each.as.is_ragged});
  for (const example_left_out& each : opened.survey.left_out)
    listed.push_back({.name = each.name, .left_out = each.reason});
  return listed;
}

}  // namespace

format_entry tfrecord_format() {
  return {
      .name = "tfrecord",
      .known_as = "TFRecord files of tf.train.Example",
      .is = [](const probed_file& file) { return is_tfrecord_head(file.content); },
      .open = [](const std::vector<std::string>& paths,
                 const open_options& options) { return open_tfrecord(paths, options_of(options)); },
      .list = list_tfrecord,
      .takes_pad = true};
}

}  // namespace feedline::detail
