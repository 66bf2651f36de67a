#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens sets of MosaicML's streaming (MDS, version 2): folders with an index.json and shards, here
/// or at remote addresses. Target `feedline::formats`. Needs a feedline that was built with
/// nlohmann-json.
///
///     auto train =
///         feedline::open_mds({"imagenet/train"}, {.image = feedline::make_image_decoder()});
///
/// Each column is a field of its name:
///
/// - int, int8 … uint64, float16 … float64: scalars.
/// - str_int and str_float: i64 and f64.
/// - ndarray: fixed, if all values that are looked at have one shape; ragged over the first
///   dimension, if only this differs; else left out.
/// - jpeg, png: images, if `image` is set; else ragged u8. pil: u8 [H, W] or [H, W, channels], in
///   the modes L, P, RGB, RGBA, CMYK, YCbCr, HSV and LAB.
/// - bytes, str, str_decimal, json: u8, fixed if all values that are looked at have one length,
///   else ragged. Bytes are images, if `image` is set and all that are looked at are JPEG or PNG
///   files. `column_options::type` reads bytes as elements of another type.
/// - pkl, and lists of images: left out; the log says so. feedline never unpickles.
///
/// Opening compares the size of each shard, its number of records and their offsets with the index;
/// checksums in the index are not compared. Shards that zstd, gz or bz2 compressed are decompressed
/// whole when a record is read, and kept as memory allows (`chunks()`: use `shuffle{.within = …}`).
/// Other codecs are refused. A shard that is there both ways is read uncompressed. Samples are read
/// in any order by any number of threads. Images are decoded by readers, or by devices that can
/// (`encoded()`).
/// @param folders Folders, or their index.json; patterns as in `expand_paths`. All have the same
/// columns.
/// @throws dataset_error naming file and sample: no index, or a damaged one, shards that differ
/// from it, a codec that feedline does not undo, records that differ from the columns.
/// @throws usage_error if there is no folder, a field or column does not exist, or its options do
/// not suit its values; errors of `decode` about `pad`.
[[nodiscard]] dataset_ptr open_mds(const std::vector<std::string>& folders,
                                   const shard_options& options = {});

/// One ragged field of such sets, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
/// @param options `fields` and `pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_mds_ragged(const std::vector<std::string>& folders,
                                                 const std::string& field,
                                                 const shard_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
