#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/known_value.hpp"
#include "detail/sample_range.hpp"
#include "formats/tokens/shard.hpp"
#include "io/any_in_turn.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Tokens that lie together in one shard: a window, or a part of one.
struct piece {
  std::size_t shard = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::size_t bytes = 0;
};

class token_dataset final : public dataset {
 public:
  /// @param shards None of them empty.
  token_dataset(std::vector<token_shard> shards, std::uint64_t tokens_per_sample,
                std::uint64_t stride)
      : shards_{std::move(shards)},
        type_{shards_.front().type},
        token_bytes_{size_bytes(type_)},
        tokens_per_sample_{tokens_per_sample},
        stride_{stride} {
    std::uint64_t end = 0;
    for (const token_shard& shard : shards_) ends_.push_back(end += shard.tokens);
    size_ = count_windows(end, tokens_per_sample_ + 1, stride_);
  }

  std::uint64_t size() const override { return size_; }

  std::vector<field> fields() const override {
    return {{"input", type_, {tokens_per_sample_}}, {"target", type_, {tokens_per_sample_}}};
  }

  bool wants_prefetch() const noexcept override {
    return any_(shards_.size(), [this](std::size_t i) { return shards_[i].file->is_cold(); });
  }

  bool hints_ranges() const noexcept override { return true; }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples)
      if (sample.value < size_)
        for_each_piece(sample.value * stride_, tokens_per_sample_ + 1, [this](const piece& part) {
          const byte_file& file = *shards_[part.shard].file;
          if (file.is_cold()) file.will_need(part.offset, part.bytes);
        });
  }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size_);
    const std::size_t row_bytes = tokens_per_sample_ * token_bytes_;
    std::vector<std::size_t> touched;
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::byte* const tokens = window(request.samples[i], scratch, touched);
      std::memcpy(request.out[0].data() + i * row_bytes, tokens, row_bytes);
      std::memcpy(request.out[1].data() + i * row_bytes, tokens + token_bytes_, row_bytes);
    }
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const std::size_t shard : touched) shards_[shard].file->require_unchanged();
  }

  /// Calls `use` for the pieces of tokens [first, first + count), in order.
  template <class Use>
  void for_each_piece(std::uint64_t first, std::uint64_t count, const Use& use) const {
    for (std::size_t shard = part_at(ends_, first); count != 0; ++shard) {
      const token_shard& in = shards_[shard];
      const std::uint64_t before = first - (ends_[shard] - in.tokens);  // in this shard
      const std::uint64_t here = std::min(count, in.tokens - before);
      use(piece{shard, in.offset + before * token_bytes_,
                static_cast<std::size_t>(here) * token_bytes_});
      first += here;
      count -= here;
    }
  }

  /// A sample's tokens in the machine's byte order: where they lie, if they lie so, else in
  /// `scratch`. @param touched Gets the shards that they come from.
  const std::byte* window(sample_index sample, std::vector<std::byte>& scratch,
                          std::vector<std::size_t>& touched) const {
    const std::size_t bytes = (tokens_per_sample_ + 1) * token_bytes_;
    const std::byte* in_place = nullptr;
    std::size_t done = 0;
    for_each_piece(sample.value * stride_, tokens_per_sample_ + 1, [&](const piece& part) {
      const token_shard& shard = shards_[part.shard];
      if (touched.empty() || touched.back() != part.shard) touched.push_back(part.shard);
      const auto mapped = shard.file->mapped();
      if (!mapped.empty() && part.bytes == bytes && !shard.is_swapped) {
        in_place = mapped.data() + part.offset;
        return;
      }
      scratch.resize(bytes);
      const auto into = std::span{scratch}.subspan(done, part.bytes);
      done += part.bytes;
      if (mapped.empty()) {
        try {
          shard.file->read(part.offset, into);
        } catch (const dataset_error& failure) {
          dataset_location where = failure.where();
          where.sample = sample.value;
          throw dataset_error{std::move(where), failure.message()};
        }
      } else {
        std::memcpy(into.data(), mapped.data() + part.offset, part.bytes);
      }
      if (shard.is_swapped) reverse_elements(into, token_bytes_);
    });
    return in_place != nullptr ? in_place : scratch.data();
  }

  std::vector<token_shard> shards_;
  std::vector<std::uint64_t> ends_;  ///< in tokens: end of each shard
  element_type type_;
  std::size_t token_bytes_;
  std::uint64_t tokens_per_sample_;
  std::uint64_t stride_;
  std::uint64_t size_ = 0;
  mutable any_in_turn any_;
};

}  // namespace

dataset_ptr make_token_dataset(std::vector<token_shard> shards, const token_options& options) {
  const token_shard first = shards.front();
  std::uint64_t tokens = 0;
  for (const token_shard& shard : shards) {
    if (shard.type != first.type)
      throw dataset_error{{.path = shard.file->name(), .field = {}},
                          "holds " + std::string{to_string(shard.type)} + " tokens, but " +
                              first.file->name() + " holds " + std::string{to_string(first.type)} +
                              "; open the shards of one tokenizer together"};
    if (__builtin_add_overflow(tokens, shard.tokens, &tokens))
      throw usage_error{"open_tokens: the shards' tokens are more than 64 bits can count"};
  }
  const std::uint64_t wanted = options.tokens_per_sample;
  if (tokens == 0 || wanted > tokens - 1)
    throw dataset_error{{.path = first.file->name(), .field = {}},
                        "the shards hold " + std::to_string(tokens) +
                            " tokens in all, but a sample takes " + std::to_string(wanted) +
                            " and one more; ask for fewer tokens_per_sample, or name more shards"};
  std::erase_if(shards, [](const token_shard& shard) { return shard.tokens == 0; });
  return std::make_shared<const token_dataset>(std::move(shards), wanted,
                                               options.stride == 0 ? wanted : options.stride);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_tokens(const std::vector<std::string>& shards, const token_options& options) {
  if (shards.empty()) throw usage_error{"open_tokens: there is no shard to open"};
  if (options.tokens_per_sample == 0)
    throw usage_error{"open_tokens: tokens_per_sample is 0; say how many tokens a sample has"};
  detail::require_known("token_options::header", options.header, {"automatic", "none"});
  detail::require_known("token_options::byte_order", options.byte_order);
  if (options.type && *options.type != element_type::u16 && *options.type != element_type::u32)
    throw usage_error{"open_tokens: type is " + std::string{to_string(*options.type)} +
                      ", but tokens are uint16 or uint32"};
  const std::vector<std::string> paths = expand_paths(shards);
  std::vector<detail::token_shard> open;
  for (const std::string& path : paths) {
    open.push_back(detail::open_token_shard(detail::open_file(path), options));
    const std::string& tokens = open.back().file->name();
    if (tokens != path && std::ranges::count(paths, tokens) != 0)
      throw usage_error{"open_tokens: " + path + " is the index of " + tokens +
                        ", which is named too, so its tokens would come twice; name one of both"};
  }
  return detail::make_token_dataset(std::move(open), options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
