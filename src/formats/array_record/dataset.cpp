#include "formats/array_record/dataset.hpp"

#include <feedline/error.hpp>

#include "formats/array_record/values.hpp"
#include "formats/columns/dataset.hpp"
#include "formats/columns/pickle.hpp"
#include "formats/tfrecord/records.hpp"
#include "ragged/record_columns.hpp"

#include <utility>

namespace feedline::detail {
namespace {

constexpr std::string_view who = "open_array_record";

bool is_example(std::span<const std::byte> record) try {
  bool has_feature = false;
  for_each_feature(record, [&](const named_feature& found) {
    has_feature = true;
    if (!found.is_sequence) (void)read_feature(found.message);
  });
  return has_feature;
} catch (const dataset_error&) {
  return false;
}

/// Records, and whether they are the field "value".
struct opened_records {
  coded_values_ptr records;
  bool are_values;
};

opened_records open_records(const std::vector<byte_file_ptr>& files,
                            const array_record_options& options) {
  if (!options.examples.index_folder.empty())
    throw usage_error{
        "open_array_record: tfrecord_options::index_folder is set, but ArrayRecord files have an "
        "index of their own; leave it empty"};
  if (options.value && (options.examples.record || !options.examples.features.empty()))
    throw usage_error{
        "open_array_record: array_record_options::value says that records are bytes, but "
        "tfrecord_options::record or features say that they are not; set one of them"};
  opened_records opened{make_array_record_values(files, options.max_host_cache_bytes), false};
  if (options.examples.record) return opened;
  std::vector<std::byte> memory;
  const auto first =
      opened.records->read(0, [&](std::size_t bytes) { return room_in(memory, bytes); });
  opened.are_values = options.value || !is_example(first);
  if (!opened.are_values) return opened;
  if (!options.examples.features.empty())
    opened.records->refuse(
        {{}, "is no tf.train.Example, but tfrecord_options::features names features"}, 0);
  if (!options.value && is_pickled(first))
    opened.records->refuse(
        {{},
         "is a pickle, and feedline never unpickles; write the records as tf.train.Example or as "
         "bytes that say what they are, or decode them (tfrecord_options::record, or a decoder in "
         "array_record_options::value)"},
        0);
  return opened;
}

/// Records as records of one column.
columned_records columned(const coded_values_ptr& records) {
  columned_records made{records, {}};
  made.layout.has_sizes = false;
  made.layout.columns.push_back({.name = "value", .coding = "bytes"});
  return made;
}

shard_options value_options(const array_record_options& options) {
  shard_options how;
  how.fields = options.examples.fields;
  if (options.value) how.columns.emplace("value", *options.value);
  how.image = options.examples.image;
  how.pad = options.examples.pad;
  how.looked_at = options.examples.looked_at;
  return how;
}

}  // namespace

dataset_ptr make_array_record_dataset(const std::vector<byte_file_ptr>& files,
                                      const array_record_options& options) {
  opened_records opened = open_records(files, options);
  if (opened.are_values)
    return make_columns_dataset(who, columned(opened.records), value_options(options));
  return make_examples_dataset(
      who, describe_examples(who, std::move(opened.records), options.examples), options.examples);
}

std::vector<listed_field> list_array_record(const std::vector<byte_file_ptr>& files,
                                            const array_record_options& options) {
  opened_records opened = open_records(files, options);
  if (opened.are_values) return list_columns(who, columned(opened.records), value_options(options));
  return list_examples(describe_examples(who, std::move(opened.records), options.examples));
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_array_record(const std::vector<std::string>& files,
                              const array_record_options& options) {
  return detail::make_array_record_dataset(detail::open_record_files(detail::who, files), options);
}

ragged_dataset_ptr open_array_record_ragged(const std::vector<std::string>& files,
                                            const std::string& field,
                                            const array_record_options& options) {
  using detail::who;
  auto opened = detail::open_records(detail::open_record_files(who, files), options);
  if (opened.are_values)
    return detail::make_column_ragged(who, detail::columned(opened.records), field,
                                      detail::value_options(options));
  const auto examples = detail::describe_examples(who, std::move(opened.records), options.examples);
  return detail::make_ragged_field(examples.records, examples.by, field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
