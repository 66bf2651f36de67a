#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/records.hpp>

#include "dataset/field_list.hpp"
#include "dataset/file_dataset.hpp"
#include "io/random_file.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace feedline {
namespace {

/// Where the fields lie in a record.
struct record_layout {
  std::vector<field> specs;
  std::vector<std::size_t> row_bytes;
  std::vector<std::uint64_t> offsets;
  std::uint64_t record_bytes = 0;
};

record_layout lay_out(const std::vector<record_field>& fields, const record_options& options) {
  record_layout layout;
  for (const record_field& one : fields) layout.specs.push_back({one.name, one.type, one.shape});
  layout.row_bytes = detail::checked_row_bytes("open_records", layout.specs);

  std::uint64_t end = 0;  // of the field before
  std::uint64_t farthest = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool follows = fields[i].offset == record_field::after_previous;
    layout.offsets.push_back(follows ? end : fields[i].offset);
    if (__builtin_add_overflow(layout.offsets[i], layout.row_bytes[i], &end))
      throw usage_error{"open_records: field " + to_string(layout.specs[i]) +
                        " ends beyond what 64 bits can count"};
    if (options.record_bytes != 0 && end > options.record_bytes)
      throw usage_error{"open_records: field " + to_string(layout.specs[i]) + " ends at byte " +
                        std::to_string(end) + " of a record, but record_bytes is " +
                        std::to_string(options.record_bytes)};
    farthest = std::max(farthest, end);
  }
  layout.record_bytes = options.record_bytes != 0 ? options.record_bytes : farthest;
  return layout;
}

std::uint64_t count_records(const detail::random_file& file, const record_layout& layout,
                            std::uint64_t header_bytes) {
  const auto error = [&](std::uint64_t offset, const std::string& message) {
    return dataset_error{{.path = file.path(), .field = {}, .sample = {}, .offset = offset},
                         message};
  };
  const std::uint64_t size = file.size();
  if (size < header_bytes)
    throw error(size, "cut short: the header alone is to be " + std::to_string(header_bytes) +
                          " bytes, but the file ends here; get the file anew, or check "
                          "header_bytes");
  const std::uint64_t payload = size - header_bytes;
  if (payload == 0) throw error(size, "the file holds no record");
  if (const std::uint64_t rest = payload % layout.record_bytes; rest != 0)
    throw error(size - rest,
                "no whole number of records: after " +
                    std::to_string(payload / layout.record_bytes) + " of " +
                    std::to_string(layout.record_bytes) + " bytes there are " +
                    std::to_string(rest) +
                    " bytes more; get the file anew, or check the sizes of header and record");
  return payload / layout.record_bytes;
}

dataset_ptr open_file(const detail::random_file_ptr& file, const record_layout& layout,
                      const record_options& options) {
  const std::uint64_t records = count_records(*file, layout, options.header_bytes);
  std::vector<detail::file_rows_field> rows;
  for (std::size_t i = 0; i < layout.specs.size(); ++i) {
    const field& spec = layout.specs[i];
    const bool swapped = options.byte_order != std::endian::native;
    const detail::row_place place{.offset = options.header_bytes + layout.offsets[i],
                                  .stride = layout.record_bytes,
                                  .row_bytes = layout.row_bytes[i],
                                  .swapped_bytes = swapped ? size_bytes(spec.type) : 1};
    rows.push_back({spec, detail::file_rows{file, spec.name, place, records}});
  }
  return detail::make_file_dataset(std::move(rows));
}

}  // namespace

dataset_ptr open_records(const std::vector<std::string>& files,
                         const std::vector<record_field>& fields, const record_options& options) {
  if (files.empty()) throw usage_error{"open_records: there is no file to open"};
  const record_layout layout = lay_out(fields, options);
  std::vector<dataset_ptr> parts;
  for (const std::string& path : expand_paths(files))
    parts.push_back(open_file(std::make_shared<const detail::random_file>(path), layout, options));
  return parts.size() == 1 ? parts.front() : concatenate(std::move(parts));
}

}  // namespace feedline
