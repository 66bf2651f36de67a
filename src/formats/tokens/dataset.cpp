#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/tokens.hpp>

#include "formats/tokens/windows.hpp"

#include <memory>
#include <string>
#include <utility>

namespace feedline {

dataset_ptr open_tokens(const std::vector<std::filesystem::path>& shards,
                        const token_options& options) {
  if (shards.empty()) throw usage_error{"open_tokens: there is no shard to open"};
  if (options.tokens_per_sample == 0)
    throw usage_error{"open_tokens: tokens_per_sample is 0; say how many tokens a sample has"};
  if (options.type && *options.type != element_type::u16 && *options.type != element_type::u32)
    throw usage_error{"open_tokens: type is " + std::string{to_string(*options.type)} +
                      ", but tokens are uint16 or uint32"};
  std::vector<detail::token_shard> open;
  for (const std::filesystem::path& shard : expand_paths(shards))
    open.push_back(
        detail::open_token_shard(std::make_shared<const detail::random_file>(shard), options));
  return detail::make_token_dataset(std::move(open), options);
}

}  // namespace feedline
