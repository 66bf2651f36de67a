#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What stands before the tokens of a shard.
enum class token_header : std::uint8_t {
  automatic,  ///< llm.c's, NumPy's or Megatron's where there is one; other known formats refused
  none,       ///< nothing, whatever the first bytes look like
};

/// How token shards are cut into samples.
struct token_options {
  std::uint64_t tokens_per_sample = 0;    ///< T: inputs of a sample, and targets; to be given
  std::uint64_t stride = 0;               ///< from one sample's first token to the next's; 0: T
  std::optional<element_type> type = {};  ///< u16 or u32; nothing: what the shards' headers say
  token_header header = token_header::automatic;
  std::endian byte_order = std::endian::little;  ///< of shards without a header
};

/// Opens shards of tokens, one after the other as one sequence of M tokens, of which sample k is
/// the window of T + 1 tokens that begins at token k × stride. Fields "input" ([T], the window's
/// first T tokens) and "target" ([T], its last T: shifted by one), in the type that the shards
/// hold.
///
///     auto train = feedline::open_tokens(shards, {.tokens_per_sample = 1024});
///
/// There are (M − T − 1) / stride + 1 samples, rounded down: every window that is whole, also those
/// that reach from one shard into the next. With stride = T every token but the first and those
/// after the last window is a target exactly once.
///
/// A shard is one of
/// - a file of 16- or 32-bit tokens, as `numpy.tofile` writes it; `options.type` says which;
/// - the same with the header of llm.c's shards (256 32-bit words: magic number, version, number of
///   tokens);
/// - a NumPy file (`.npy`) of one dimension and any type of integers;
/// - a pair of Megatron's indexed datasets, `x.idx` and `x.bin`, by either name: all of its
///   sequences as one stream, in the type that the index says, of any integers. Boundaries of
///   sequences and documents are not looked at.
///
/// A file that begins as another known format does (compressed files, archives, HDF5, Parquet,
/// Arrow, images, text, …) is refused by name, unless `options.header` is none. Shards are read
/// where they lie, mapped or not (`map_files`), with no lock and no memory of their own. There may
/// be any number of them, whatever the limit on open files.
/// @param shards Patterns may be among them: see `expand_paths`.
/// @throws dataset_error naming the shard: unreadable, of another format, no whole number of
///         tokens, a header or index that the file's size belies, sequences that do not follow one
///         another, floating-point numbers, shards of different types, fewer than T + 1 tokens in
///         all.
/// @throws usage_error if there is no shard, T is 0, the type is not u16 or u32, or a pair is named
///         by both of its names.
[[nodiscard]] dataset_ptr open_tokens(const std::vector<std::string>& shards,
                                      const token_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
