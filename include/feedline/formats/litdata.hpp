#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens sets of LitData: folders with an index.json and chunks, here or at remote addresses.
/// Target `feedline::formats`. Needs a feedline that was built with nlohmann-json.
///
///     auto train = feedline::open_litdata({"imagenet/train"},
///                                         {.image = feedline::make_image_decoder()});
///
/// Each leaf of a sample is a field, named by the keys that lead to it: "image", "box.left", "0";
/// "value" if the sample is one value:
///
/// - int, float, bool: i64, f64 and boolean scalars.
/// - tensors and arrays of one dimension, without a head: fixed, if all values that are looked at
///   have one length, else ragged. Others: fixed, if all have one shape; ragged over the first
///   dimension, if only this differs; else left out.
/// - jpeg and image: images, if `image` is set; else ragged u8. pil: u8, as in `open_mds`.
/// - str, text, bytes, and files of any kind: u8, as in `open_mds`.
/// - pickle, json, graph, lists of images, and serializers of users: left out; the log says so.
///
/// Sets for a TokensLoader have the field "value", the tokens of each document: see
/// `open_litdata_ragged` and `pack`.
///
/// Opening compares the size of each chunk, its number of records and their offsets with the index.
/// Chunks that zstd compressed, whole or in batches, are decompressed when a record is read, and
/// kept as memory allows (`chunks()`: use `shuffle{.within = …}`). Refused are encrypted sets,
/// those of another item loader, other codecs, records that are compressed one by one, and
/// rows that are stored in Arrow's format.
/// @param folders Folders, or their index.json; patterns as in `expand_paths`. All have the same
/// leaves.
/// @throws dataset_error and usage_error like `open_mds`.
[[nodiscard]] dataset_ptr open_litdata(const std::vector<std::string>& folders,
                                       const shard_options& options = {});

/// One ragged field of such sets, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
/// @param options `fields` and `pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_litdata_ragged(const std::vector<std::string>& folders,
                                                     const std::string& field = "value",
                                                     const shard_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
