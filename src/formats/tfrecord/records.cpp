#include "formats/tfrecord/records.hpp"

#include <feedline/formats/expand_paths.hpp>

#include "detail/byte_order.hpp"
#include "detail/threads.hpp"
#include "formats/crc32c.hpp"
#include "formats/tfrecord/example_decoder.hpp"
#include "formats/tfrecord/index.hpp"
#include "io/file_system.hpp"
#include "ragged/file_values.hpp"
#include "ragged/record_columns.hpp"

#include <utility>

namespace feedline::detail {
namespace {

class tfrecord_values final : public located_values {
 public:
  /// @param records Ends of each file's records, with their checksums.
  tfrecord_values(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends,
                  std::vector<std::vector<std::uint64_t>> records)
      : located_values{std::move(files), std::move(ends)}, records_{std::move(records)} {}

  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    return located_values::stored_bytes(sample) - tfrecord_crc_bytes;
  }

 private:
  byte_range range_of(std::size_t file, std::uint64_t number) const noexcept override {
    const std::vector<std::uint64_t>& ends = records_[file];
    return {(number == 0 ? 0 : ends[number - 1]) + tfrecord_head_bytes, ends[number]};
  }

  std::span<const std::byte> value_in(std::span<const std::byte> read) const override {
    const auto record = read.first(read.size() - tfrecord_crc_bytes);
    if (masked_crc32c(record) != little_endian(read.last(tfrecord_crc_bytes)))
      throw dataset_error{{},
                          "the checksum of the record is wrong: the file is damaged; get it "
                          "again, or replace such samples (sample_errors)"};
    return record;
  }

  std::vector<std::vector<std::uint64_t>> records_;
};

}  // namespace

coded_values_ptr make_tfrecord_values(std::vector<byte_file_ptr> files,
                                      const std::string& index_folder) {
  std::vector<std::vector<std::uint64_t>> records(files.size());
  parallel_for(files.size(), [&](std::size_t i) {
    records[i] = dali_index_beside(*files[i]);
    if (records[i].empty())
      records[i] = index_folder.empty() ? index_tfrecord(*files[i])
                                        : kept_tfrecord_index(*files[i], index_folder);
    files[i]->require_unchanged();
  });
  std::vector<std::uint64_t> ends;
  for (const auto& each : records) ends.push_back((ends.empty() ? 0 : ends.back()) + each.size());
  if (ends.back() == 0)
    throw dataset_error{{.path = files.front()->name(), .field = {}}, "holds no record"};
  return std::make_shared<const tfrecord_values>(std::move(files), std::move(ends),
                                                 std::move(records));
}

opened_examples describe_examples(std::string_view who, coded_values_ptr records,
                                  const tfrecord_options& options) {
  opened_examples opened{.records = std::move(records), .by = options.record, .survey = {}};
  if (opened.by) return opened;
  opened.survey = survey_examples(who, *opened.records, options);
  opened.by = make_example_decoder(opened.survey.fields);
  return opened;
}

opened_examples open_examples(const std::vector<byte_file_ptr>& files,
                              const tfrecord_options& options) {
  return describe_examples("open_tfrecord", make_tfrecord_values(files, options.index_folder),
                           options);
}

dataset_ptr make_examples_dataset(std::string_view who, const opened_examples& of,
                                  const tfrecord_options& options) {
  report_left_out(who, "features", of.survey.left_out, options.fields);
  return make_record_dataset(who, of.records, of.by,
                             {.fields = options.fields, .pad = options.pad});
}

std::vector<listed_field> list_examples(const opened_examples& of) {
  return list_described(of.records->size(), of.survey.fields, of.survey.left_out);
}

std::vector<byte_file_ptr> open_record_files(std::string_view who,
                                             const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw usage_error{std::string{who} + ": there is no file"};
  std::vector<byte_file_ptr> files;
  for (const std::string& path : expand_paths(patterns)) files.push_back(open_file(path));
  return files;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_tfrecord(const std::vector<std::string>& files, const tfrecord_options& options) {
  return detail::make_examples_dataset(
      "open_tfrecord",
      detail::open_examples(detail::open_record_files("open_tfrecord", files), options), options);
}

ragged_dataset_ptr open_tfrecord_ragged(const std::vector<std::string>& files,
                                        const std::string& field, const tfrecord_options& options) {
  const auto opened =
      detail::open_examples(detail::open_record_files("open_tfrecord", files), options);
  return detail::make_ragged_field(opened.records, opened.by, field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
