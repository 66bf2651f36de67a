#pragma once

#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Whether a file that begins so is a token shard with llm.c's header, or Megatron's index of one.
/// @param head Its first bytes; 9 are enough.
[[nodiscard]] bool is_token_shard(std::span<const std::byte> head) noexcept;

/// Where a shard's tokens lie.
struct token_shard {
  byte_file_ptr file;
  std::uint64_t offset = 0;  ///< offset of the first token
  std::uint64_t tokens = 0;  ///< may be 0
  element_type type = element_type::u16;
  bool is_swapped = false;  ///< tokens are not in the machine's byte order
};

/// An error at an offset of a shard.
[[nodiscard]] dataset_error shard_error(const byte_file& file, std::uint64_t offset,
                                        const std::string& message);

/// Accepts the tokens' type given by a header: only integers.
/// @param offset Where the header gives it.
/// @throws dataset_error if they are not tokens, or the options ask for another type.
void require_token_type(const byte_file& file, std::uint64_t offset, element_type type,
                        const token_options& options);

/// Looks at a shard's header, where it has one, and at its size.
/// @throws dataset_error: see `open_tokens`.
[[nodiscard]] token_shard open_token_shard(byte_file_ptr file, const token_options& options);

/// How many windows of `window` tokens, one every `stride`, fit into `tokens`. Neither is 0.
[[nodiscard]] constexpr std::uint64_t count_windows(std::uint64_t tokens, std::uint64_t window,
                                                    std::uint64_t stride) noexcept {
  return tokens < window ? 0 : (tokens - window) / stride + 1;
}

/// `open_tokens` for shards that are open. @param options Same as there; the type is the shards'.
/// @throws usage_error, dataset_error: see there.
[[nodiscard]] dataset_ptr make_token_dataset(std::vector<token_shard> shards,
                                             const token_options& options);

}  // namespace feedline::detail
