#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/records.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/rows_dataset.hpp"
#include "detail/known_value.hpp"
#include "io/byte_source.hpp"
#include "io/file_system.hpp"
#include "rows/file_rows.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Layout of the fields in a record; the offsets of their rows count from the first record.
struct record_layout {
  std::vector<field> specs;
  std::vector<detail::row_place> places;
  std::uint64_t record_bytes = 0;
};

record_layout lay_out(const std::vector<record_field>& fields, const record_options& options) {
  record_layout layout;
  for (const record_field& one : fields) layout.specs.push_back({one.name, one.type, one.shape});
  const auto row_bytes = detail::checked_row_bytes("open_records", layout.specs);
  detail::require_known("record_options::byte_order", options.byte_order);
  const bool is_swapped = options.byte_order != std::endian::native;

  std::uint64_t end = 0;  // end of the field before
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool follows = fields[i].offset == record_field::after_previous;
    layout.places.push_back({.offset = follows ? end : fields[i].offset,
                             .row_bytes = row_bytes[i],
                             .swapped_bytes = is_swapped ? size_bytes(fields[i].type) : 1});
    if (__builtin_add_overflow(layout.places[i].offset, row_bytes[i], &end))
      throw usage_error{"open_records: field " + to_string(layout.specs[i]) +
                        " ends beyond what 64 bits can count"};
    if (options.record_bytes != 0 && end > options.record_bytes)
      throw usage_error{"open_records: field " + to_string(layout.specs[i]) + " ends at byte " +
                        std::to_string(end) + " of a record, but record_bytes is " +
                        std::to_string(options.record_bytes)};
    layout.record_bytes = std::max(layout.record_bytes, end);
  }
  if (options.record_bytes != 0) layout.record_bytes = options.record_bytes;
  return layout;
}

std::uint64_t count_records(const detail::byte_file& file, std::uint64_t record_bytes,
                            std::uint64_t header_bytes) {
  const detail::file_field name{file.name(), {}};
  const std::uint64_t size = file.size();
  if (size < header_bytes)
    throw name.error(size, "cut short: the header alone should have " +
                               std::to_string(header_bytes) +
                               " bytes, but the file ends here; get the file again, or check "
                               "header_bytes");
  const std::uint64_t payload = size - header_bytes;
  if (payload == 0) throw name.error(size, "the file holds no record");
  if (const std::uint64_t rest = payload % record_bytes; rest != 0)
    throw name.error(
        size - rest,
        "no whole number of records: after " + std::to_string(payload / record_bytes) + " of " +
            std::to_string(record_bytes) + " bytes there are " + std::to_string(rest) +
            " bytes more; get the file again, or check the sizes of header and record");
  return payload / record_bytes;
}

dataset_ptr open_file(const std::string& path, const record_layout& layout,
                      std::uint64_t header_bytes) {
  const auto file = detail::open_file(path);
  const std::uint64_t records = count_records(*file, layout.record_bytes, header_bytes);
  std::vector<detail::rows_field> rows;
  for (std::size_t i = 0; i < layout.specs.size(); ++i) {
    detail::row_place place = layout.places[i];
    place.offset += header_bytes;
    place.stride = layout.record_bytes;
    rows.push_back({layout.specs[i], std::make_shared<const detail::file_rows>(
                                         file, layout.specs[i].name, place, records)});
  }
  return detail::make_rows_dataset("file dataset", std::move(rows));
}

}  // namespace

dataset_ptr open_records(const std::vector<std::string>& files,
                         const std::vector<record_field>& fields, const record_options& options) {
  if (files.empty()) throw usage_error{"open_records: there is no file to open"};
  const record_layout layout = lay_out(fields, options);
  std::vector<dataset_ptr> parts;
  for (const std::string& path : expand_paths(files))
    parts.push_back(open_file(path, layout, options.header_bytes));
  return parts.size() == 1 ? parts.front() : concatenate(std::move(parts));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
