#include "formats/array_record/dataset.hpp"
#include "formats/array_record/riegeli.hpp"
#include "formats/open/format_entry.hpp"
#include "formats/tfrecord/records.hpp"

namespace feedline::detail {
namespace {

array_record_options array_record_options_of(const open_options& options) {
  array_record_options how;
  how.examples.fields = options.fields;
  how.examples.image = make_image_decoder(options.image);
  how.examples.pad = options.pad;
  return how;
}

}  // namespace

format_entry array_record_format() {
  return {.name = "array_record",
          .known_as = "ArrayRecord files",
          .is = [](const probed_file& file) { return is_riegeli_head(file.head); },
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_array_record(paths, array_record_options_of(options));
              },
          .list =
              [](const std::string& file, const open_options& options) {
                return list_array_record(open_record_files("open_array_record", {file}),
                                         array_record_options_of(options));
              },
          .takes_pad = true};
}

}  // namespace feedline::detail
