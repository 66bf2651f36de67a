#pragma once

#include "formats/tokens/shard.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace feedline::detail {

/// Whether a file that begins so is the index (.idx) of Megatron's indexed datasets.
/// @param head Its first bytes; 9 are enough.
[[nodiscard]] bool is_megatron_index(std::span<const std::byte> head) noexcept;

/// The index beside a file of tokens: it has the same name, with ".idx" for ".bin". Null: there is
/// none.
[[nodiscard]] byte_file_ptr find_megatron_index(const std::string& tokens);

/// The tokens that an index describes, which are in the file of its name with ".bin" for ".idx":
/// all of its sequences, one after the other as one stream. Boundaries of sequences and documents
/// are not looked at.
/// @throws dataset_error: see `open_tokens`.
[[nodiscard]] token_shard open_megatron_shard(const byte_file_ptr& index,
                                              const token_options& options);

}  // namespace feedline::detail
