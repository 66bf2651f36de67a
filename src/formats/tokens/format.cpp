#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "formats/open/format_entry.hpp"
#include "formats/tokens/shard.hpp"

namespace feedline::detail {
namespace {

dataset_ptr open_token_shards(const std::vector<std::string>& shards, const open_options& options) {
  if (!options.fields.empty())
    throw usage_error{
        "open: fields of a token shard have names of their own; leave open_options::fields empty"};
  if (options.tokens_per_sample == 0)
    throw usage_error{"open: " + shards.front() +
                      " holds tokens, and open_options::tokens_per_sample is not given"};
  return open_tokens(shards, {.tokens_per_sample = options.tokens_per_sample});
}

}  // namespace

format_entry tokens_format() {
  return {.name = "tokens",
          .known_as = "token shards with llm.c's header or Megatron's index",
          .is = [](const probed_file& file) { return is_token_shard(file.head); },
          .open = open_token_shards,
          .takes_tokens = true};
}

}  // namespace feedline::detail
