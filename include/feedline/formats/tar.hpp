#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field made of one member of each sample.
struct tar_field {
  std::string name;
  /// Of the member: what stands behind the first dot of its file name, in lower case ("jpg",
  /// "seg.png"). Of several, each sample has one.
  std::vector<std::string> extensions;
  decoder_ptr decoder;
};

/// How tar shards are read.
struct tar_options {
  /// Leave samples out that lack a member of a field; off: an error.
  bool skip_incomplete = false;
  /// Accept what tar itself accepts: no end mark, archives joined by cat, absolute names (whose
  /// leading slashes go). An archive cut at a member's end then passes as whole. Off: an error.
  bool lenient = false;
  /// Bytes of a run of samples that lie together: what `shuffle{.within = chunks(W)}` takes W of at
  /// a time.
  std::size_t run_bytes = std::size_t{4} << 20;
};

/// Opens tar archives in the WebDataset manner, one after the other as one sequence: members that
/// follow one another and have the same name up to its first dot are a sample.
///
///     auto train = feedline::open_tar(
///         shards,
///         {{"image", {"jpg", "png"}, feedline::make_image_decoder({.height = 224, .width = 224})},
///          {"label", {"cls"}, feedline::decode_decimal()}});
///
/// The headers are walked once, shards in parallel; then samples are read in any order, with no
/// lock. There may be any number of shards, mapped or not (`map_files`), whatever the limit on open
/// files. Members
/// of other extensions, folders, hidden files and names with a part such as `__meta__` are passed
/// over, and so are samples that have none of the fields. The log warns of such samples if a name
/// ends as a field's does, but has another dot before: "v2.0.jpg" is the member "0.jpg" of "v2".
///
/// Any order is fast where the shards are in memory or on a solid-state disk. Where they are not (a
/// disk that turns, a network), `shuffle{.within = chunks(W)}` takes the place of a shuffle buffer:
/// W runs of samples in random order, mixed, are read nearly one after the other, and unlike a
/// buffer it mixes the epoch's ends as well and is the same for any number of readers. A pipe
/// cannot be read so; write it to a file first.
///
/// `encoded()` gives the members of fields with a decoder that devices replace (images) as they
/// are, a block for each sample, and other fields as rows.
/// @param shards Patterns may be among them: see `expand_paths`.
/// @throws dataset_error naming shard, member or sample, and byte: no tar archive, compressed (a
///         `.tar.gz` cannot be read in any order), damaged, cut short; sparse members, links and
///         devices where a field wants them, names with ".."; unless `lenient`: no end mark, joined
///         with cat, absolute names; two members for one field, members that are missing, no sample
///         at all.
/// @throws usage_error if there is no shard or no field, a field has no extension or no decoder, or
///         two have one name.
[[nodiscard]] dataset_ptr open_tar(const std::vector<std::string>& shards,
                                   const std::vector<tar_field>& fields,
                                   const tar_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
