#include "formats/open/format_entry.hpp"
#include "formats/tfrecord/index.hpp"
#include "formats/tfrecord/records.hpp"

namespace feedline::detail {
namespace {

tfrecord_options options_of(const open_options& options) {
  return {.fields = options.fields, .image = make_image_decoder(options.image), .pad = options.pad};
}

std::vector<listed_field> list_tfrecord(const std::string& file, const open_options& options) {
  return list_examples(
      open_examples(open_record_files("open_tfrecord", {file}), options_of(options)));
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
