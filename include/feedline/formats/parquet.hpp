#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_parquet`.
struct parquet_options {
  /// Columns to open, in the wanted order; empty: all that can be fields. A member of a struct is
  /// named by its whole path: "answer.start".
  std::vector<std::string> fields = {};
  /// Decodes columns of bytes whose values are JPEG or PNG files; null: they stay bytes.
  decoder_ptr image = nullptr;
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
  /// Values that replace nulls, by the column's name: a number that the column's type has. A list,
  /// text or bytes that is null becomes one without elements; the number replaces elements that are
  /// null. Without it, reading a null is an error.
  std::map<std::string, padding_value> fill_nulls = {};
  /// Limit of memory for decoded columns of row groups, all fields together. A row group that
  /// a reader is using is kept, even if it is larger by itself. 0: a quarter of the machine's
  /// memory.
  std::size_t max_host_cache_bytes = 0;
};

/// Opens Parquet files as one sequence, in the given order. Target `feedline::formats`. Needs a
/// feedline that was built with Arrow's C++ libraries (`FEEDLINE_PARQUET`).
///
///     auto train = feedline::open_parquet({"data/train-*.parquet"},
///                                         {.fields = {"image", "label"},
///                                          .image = feedline::make_image_decoder()});
///
/// Each column is a field of its own name:
///
/// - booleans, integers, f16, f32, f64: a scalar of that type. Dates and times are counts:
///   dates (days) and time32 in i32; time64, timestamps and durations in i64, in the column's own
///   unit. They count from 1970, and a time zone changes nothing. The log tells the unit.
///   Integers that are labels of Hugging Face's `datasets` (ClassLabel) have the names of their
///   classes (`field::classes`), also in lists; feedline needs nlohmann-json for that. Files whose
///   names differ are not opened together; those of a file count for files without any.
/// - lists of fixed size: [N]; lists of these [N, M]; bytes of fixed size: u8[N].
/// - lists of numbers, or of lists of fixed size: ragged.
/// - text and bytes: ragged u8; an image, if `image` is set and the values that are looked at are
///   JPEG or PNG files. A struct of `bytes` and `path`, as Hugging Face's Hub stores images, is its
///   bytes.
/// - dictionaries: their values.
/// - members of other structs: fields by themselves, named by their paths.
/// - others (decimals, maps, lists of lists or texts): left out; the log says so, and naming one
///   is an error that says what to do.
///
/// Ragged fields are padded: without a length in `pad`, one pass over these columns finds the
/// longest, when the dataset is created, on all cores. A null is an error that names row and column
/// when it is read, which a loader's policy may replace (`sample_errors`), unless `fill_nulls` has
/// the column.
///
/// All files have the fields of the first one. Row groups are the chunks of the order: each
/// column of a row group is decoded whole, by one reader, and kept while memory allows.
/// `shuffle{.within = …}` uses an order that decodes each row group about once; where row groups
/// differ in size, those at the border of two chunks are decoded twice. Images are decoded by
/// readers, or by devices that can (`encoded()`).
///
/// The files must not change while they are open: a read throws if one does.
/// @param files Paths, patterns (see `expand_paths`), or folders: the files `*.parquet` in them, or
/// in `data` there, in the order of their names, if they are of one split.
/// @throws dataset_error naming file, row group and column: damaged, encrypted, no row, a column
/// with another type than in the first file, or missing there, a column's row group larger than the
/// machine's memory; in a build without Arrow, always.
/// @throws usage_error if there is no file or no such column, if a column cannot be a field, or
/// options do not suit a column; errors of `decode` about `pad`.
[[nodiscard]] dataset_ptr open_parquet(const std::vector<std::string>& files,
                                       const parquet_options& options = {});

/// One ragged field of Parquet files, for `pack`, `pad` and `bucket_by_length`. One pass over the
/// column finds the lengths, which take 8 bytes a sample.
/// @param options `fields`, `image` and `pad` are not used.
/// @throws as `open_parquet`; usage_error also if the column is not ragged.
[[nodiscard]] ragged_dataset_ptr open_parquet_ragged(const std::vector<std::string>& files,
                                                     const std::string& field,
                                                     const parquet_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
