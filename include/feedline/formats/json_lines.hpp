#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/columns.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens files of JSON lines (also called NDJSON) as one sequence: one object on each line, a
/// sample each. Target `feedline::formats`; needs nlohmann-json.
///
///     auto train = feedline::open_json_lines(
///         {"train-*.jsonl"},
///         {.columns = {{"label", {.labels = feedline::text_labels{.names = {"cat", "dog"}}}}},
///          .pad = {{"text", {.length = 512, .longer = feedline::pad_longer::truncate}}}});
///
/// Each key is a field of its own name; members of an object within have names such as "a.b".
/// Records that are spread evenly over all files are looked at (`table_options::looked_at`):
///
/// - whole numbers are i64; u64 if one is larger than an i64; f64 if some have a fraction: a whole
///   number that f64 rounds is an error then, unless `table_column::type` is given. `true` and
///   `false` are boolean.
/// - lists of numbers, also of lists, have their shape if all have the same; if their lengths
///   differ, they are ragged.
/// - texts are ragged u8, their UTF-8. With `table_column::labels` they are classes, and so are
///   lists of texts.
/// - other columns are left out, and the log says why: texts in some records and numbers in others,
///   lists of objects, lists of texts without labels, null in all records.
///
/// A record without a column, or with null, is an error, unless `table_column::fill` is given. So
/// is a value that does not suit its field, a key that occurs twice in an object, and a column that
/// lacks a value in a record that is looked at. Keys that no record has that is looked at are
/// ignored, and the log names the first. Ragged fields are padded: without a length in `pad`, one
/// pass over all records finds the longest.
///
/// Opening a file reads it once, on all cores, to find its lines; 8 bytes a line are kept. Samples
/// are read in any order, without a lock. Empty lines are skipped.
/// Files that gzip compressed are decompressed once when they are opened, files in parallel, which
/// checks them and finds a point every 4 MiB from which they can be read; a point takes 32 KiB.
/// When a line is read, its block of 4 MiB is decompressed, and kept within
/// `table_options::max_host_cache_bytes`; an order of chunks (`shuffle` with `within = chunks()`)
/// decompresses each once. Bytes in errors are those of the decompressed text.
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming file, line, byte and field: no record, damaged gzip, UTF-16, no
/// JSON, no object, a key of more than 1,024 bytes with those around it, no column that can be a
/// field.
/// @throws usage_error if there is no file, a field or column is not in the records that are looked
/// at, or options of a column do not suit its values; errors of `decode` about `pad`.
[[nodiscard]] dataset_ptr open_json_lines(const std::vector<std::string>& files,
                                          const table_options& options = {});

/// One ragged field of JSON lines, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
/// @param options `fields` and `pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_json_lines_ragged(const std::vector<std::string>& files,
                                                        const std::string& field,
                                                        const table_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
