#include "formats/tfrecord/records.hpp"

#include <feedline/formats/expand_paths.hpp>

#include "detail/byte_order.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"
#include "detail/text.hpp"
#include "detail/threads.hpp"
#include "formats/crc32c.hpp"
#include "formats/tfrecord/example_decoder.hpp"
#include "formats/tfrecord/index.hpp"
#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

class tfrecord_values final : public coded_values {
 public:
  struct indexed_file {
    byte_file_ptr file;
    std::vector<std::uint64_t> ends;  ///< ends of records, with their checksums
  };

  explicit tfrecord_values(std::vector<indexed_file> files) : files_{std::move(files)} {
    std::uint64_t records = 0;
    for (const indexed_file& each : files_) ends_.push_back(records += each.ends.size());
  }

  std::uint64_t size() const override { return ends_.back(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    const place at = find(sample);
    return at.end - at.begin - tfrecord_crc_bytes;
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override try {
    const place at = find(sample);
    const auto stored = memory(static_cast<std::size_t>(at.end - at.begin));
    at.file.read(at.begin, stored);
    const auto record = stored.first(stored.size() - tfrecord_crc_bytes);
    if (masked_crc32c(record) != little_endian(stored.last(tfrecord_crc_bytes)))
      throw dataset_error{{},
                          "the checksum of the record is wrong: the file is damaged; get it "
                          "again, or replace such samples (sample_errors)"};
    at.file.require_unchanged();
    return record;
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    const place at = find(sample);
    at.file.require_unchanged();
    throw dataset_error{{at.file.name(), fault.field(), sample, at.begin}, fault.message()};
  }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(files_, [](const auto& each) { return each.file->is_cold(); });
  }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const place at = find(sample.value);
      at.file.will_need(at.begin, at.end - at.begin);
    }
  }

 private:
  struct place {
    const byte_file& file;
    std::uint64_t begin;
    std::uint64_t end;
  };

  [[nodiscard]] place find(std::uint64_t sample) const noexcept {
    const std::size_t number = part_at(ends_, sample);
    const indexed_file& in = files_[number];
    const std::uint64_t record = sample - (number == 0 ? 0 : ends_[number - 1]);
    const std::uint64_t before = record == 0 ? 0 : in.ends[record - 1];
    return {*in.file, before + tfrecord_head_bytes, in.ends[record]};
  }

  std::vector<indexed_file> files_;
  std::vector<std::uint64_t> ends_;  ///< records of all files up to each
};

}  // namespace

coded_values_ptr make_tfrecord_values(std::vector<byte_file_ptr> files,
                                      const std::string& index_folder) {
  std::vector<tfrecord_values::indexed_file> indexed(files.size());
  parallel_for(files.size(), [&](std::size_t i) {
    const byte_file& file = *files[i];
    indexed[i] = {files[i], index_folder.empty() ? index_tfrecord(file)
                                                 : kept_tfrecord_index(file, index_folder)};
    file.require_unchanged();
  });
  if (std::ranges::all_of(indexed, [](const auto& each) { return each.ends.empty(); }))
    throw dataset_error{{.path = files.front()->name(), .field = {}}, "holds no record"};
  return std::make_shared<const tfrecord_values>(std::move(indexed));
}

opened_examples open_examples(const std::vector<byte_file_ptr>& files,
                              const tfrecord_options& options) {
  opened_examples opened{.records = make_tfrecord_values(files, options.index_folder),
                         .by = options.record,
                         .survey = {}};
  if (opened.by) return opened;
  opened.survey = survey_examples(*opened.records, options);
  opened.by = make_example_decoder(opened.survey.fields);
  return opened;
}

dataset_ptr make_examples_dataset(const opened_examples& of, const tfrecord_options& options) {
  std::vector<std::string> left_out;
  for (const example_left_out& each : of.survey.left_out) {
    if (std::ranges::count(options.fields, each.name) != 0)
      throw usage_error{"open_tfrecord: '" + each.name + "' cannot be a field: it " + each.reason};
    left_out.push_back("'" + each.name + "' " + each.reason);
  }
  if (options.fields.empty() && !left_out.empty())
    log()->warn("open_tfrecord: features are left out: {}", list_names(left_out));
  return make_record_dataset("open_tfrecord", of.records, of.by,
                             {.fields = options.fields, .pad = options.pad});
}

std::vector<byte_file_ptr> open_record_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw usage_error{"open_tfrecord: there is no file"};
  std::vector<byte_file_ptr> files;
  for (const std::string& path : expand_paths(patterns)) files.push_back(open_file(path));
  return files;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_tfrecord(const std::vector<std::string>& files, const tfrecord_options& options) {
  return detail::make_examples_dataset(
      detail::open_examples(detail::open_record_files(files), options), options);
}

ragged_dataset_ptr open_tfrecord_ragged(const std::vector<std::string>& files,
                                        const std::string& field, const tfrecord_options& options) {
  const auto opened = detail::open_examples(detail::open_record_files(files), options);
  return detail::make_ragged_field(opened.records, opened.by, field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
