#include "hdf5/filter/filters.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

// Filters whose library was absent when feedline was built.
// NOLINTBEGIN(readability-identifier-naming)
#ifndef FEEDLINE_HAS_BLOSC
#define undo_blosc nullptr
#endif
#ifndef FEEDLINE_HAS_BLOSC2
#define undo_of_blosc2 nullptr
#endif
#ifndef FEEDLINE_HAS_BZIP2
#define undo_bzip2 nullptr
#endif
#ifndef FEEDLINE_HAS_LZ4
#define undo_lz4 nullptr
#endif
#ifndef FEEDLINE_HAS_LZO
#define undo_of_lzo nullptr
#endif
#ifndef FEEDLINE_HAS_LIBAEC
#define undo_of_szip nullptr
#endif
#ifndef FEEDLINE_HAS_ZFP
#define undo_of_zfp nullptr
#endif
#ifndef FEEDLINE_HAS_ZSTD
#define undo_zstd nullptr
#endif
// NOLINTEND(readability-identifier-naming)

namespace feedline::detail {
namespace {

constexpr std::size_t max_filters = 32;  // in a pipeline: a filter mask has 32 bits
constexpr std::size_t checksum_bytes = 4;

struct known_filter {
  int id;
  std::string_view name;
  hdf5_undo_maker* undo = nullptr;           ///< for a filter that cannot always be undone
  hdf5_undo_function* decompress = nullptr;  ///< for any other; both null: only the name is known
  std::string_view library = {};             ///< library that it needs
};

/// Ids as registered with The HDF Group.
constexpr std::array known_filters{
    known_filter{1, "deflate", nullptr, undo_deflate},
    known_filter{2, "shuffle", undo_of_shuffle},
    known_filter{3, "fletcher32", undo_of_fletcher32},
    known_filter{4, "szip", undo_of_szip, nullptr, "libaec"},
    known_filter{5, "nbit"},
    known_filter{6, "scaleoffset", undo_of_scaleoffset},
    known_filter{305, "lzo", undo_of_lzo, nullptr, "liblzo2"},
    known_filter{307, "bzip2", nullptr, undo_bzip2, "libbz2"},
    known_filter{32000, "lzf", nullptr, undo_lzf},
    known_filter{32001, "blosc", nullptr, undo_blosc, "libblosc"},
    known_filter{32004, "lz4", nullptr, undo_lz4, "liblz4"},
    known_filter{32008, "bitshuffle", undo_of_bitshuffle},
    known_filter{32013, "zfp", undo_of_zfp, nullptr, "libzfp"},
    known_filter{32015, "zstd", nullptr, undo_zstd, "libzstd"},
    known_filter{32026, "blosc2", undo_of_blosc2, nullptr, "libblosc2"},
};

const known_filter* find(int id) noexcept {
  const auto* const found = std::ranges::find(known_filters, id, &known_filter::id);
  return found == known_filters.end() ? nullptr : found;
}

/// The file's name for it if the id is unknown; that name may be anything.
std::string name_of(const hdf5_filter& filter) {
  if (const known_filter* const known = find(filter.id)) return std::string{known->name};
  constexpr std::size_t longest = 40;
  std::string name;
  for (const char c : filter.name)
    if (c > ' ' && c <= '~' && name.size() < longest) name += c;
  return name;
}

/// "filter 1 (deflate)"
std::string title_of(const hdf5_filter& filter) {
  const std::string name = name_of(filter);
  return "filter " + std::to_string(filter.id) + (name.empty() ? "" : " (" + name + ")");
}

hdf5_undo undo_of(const hdf5_filter& filter) {
  const known_filter* const known = find(filter.id);
  if (known != nullptr && known->undo != nullptr) return known->undo(filter.values);
  if (known != nullptr && known->decompress != nullptr)
    return {.effect = hdf5_size_effect::compression, .function = known->decompress};
  if (known == nullptr || known->library.empty())
    return {.refusal = "is not one that feedline decodes"};
  return {.refusal = without_library(known->library)};
}

std::string bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

/// Size of a filter's input when the chunk was written.
struct given_size {
  std::size_t bytes;
  bool exact;  ///< false: this is an upper bound
};

/// Size of its output, which is the next filter's input.
given_size after(hdf5_size_effect effect, given_size given, std::size_t chunk_bytes) noexcept {
  if (effect == hdf5_size_effect::checksum) given.bytes += checksum_bytes;
  // Incompressible data grows: threefold at worst, in Zstandard frames of eight bytes each.
  if (effect == hdf5_size_effect::compression)
    given = {std::max(given.bytes, 4 * chunk_bytes + 4096), false};
  return given;
}

void require_size(std::size_t is, given_size wanted) {
  if (wanted.exact ? is != wanted.bytes : is > wanted.bytes)
    throw hdf5_filter_error{"yields " + bytes(is) + " where " +
                            (wanted.exact ? "" : "no more than ") + bytes(wanted.bytes) +
                            " can be right"};
}

}  // namespace

void fail_for_more_than(std::size_t limit) {
  throw hdf5_filter_error{"yields more than the " + bytes(limit) + " that can be right"};
}

void fail_for_claim(std::uint64_t claimed, std::size_t limit) {
  throw hdf5_filter_error{"claims to yield " + bytes(claimed) + " where " + bytes(limit) +
                          " can be right"};
}

void fail_for_early_end(std::size_t stored, std::size_t given) {
  throw hdf5_filter_error{"the stream of " + std::to_string(stored) + " bytes ends early, after " +
                          std::to_string(given) + " decoded ones"};
}

hdf5_filters::hdf5_filters(std::vector<hdf5_filter> pipeline) : pipeline_{std::move(pipeline)} {
  if (pipeline_.size() > max_filters)
    refusal_ = std::to_string(pipeline_.size()) + " filters are more than HDF5 knows";
  for (const hdf5_filter& filter : pipeline_) {
    undos_.push_back(undo_of(filter));
    if (refusal_.empty() && !undos_.back().refusal.empty())
      refusal_ = title_of(filter) + " " + undos_.back().refusal;
  }
}

bool hdf5_filters::skips_all(std::uint32_t mask) const noexcept {
  const std::uint64_t all = (std::uint64_t{1} << std::min(pipeline_.size(), max_filters)) - 1;
  return (mask & all) == all;
}

bool hdf5_filters::has_checksum() const noexcept {
  return std::ranges::count(undos_, hdf5_size_effect::checksum, &hdf5_undo::effect) != 0;
}

std::string hdf5_filters::describe() const {
  std::string text;
  for (const hdf5_filter& filter : pipeline_) {
    const std::string name = name_of(filter);
    text +=
        (text.empty() ? "" : ", ") + (name.empty() ? "filter " + std::to_string(filter.id) : name);
  }
  return text;
}

void hdf5_filters::decode(std::span<const std::byte> stored, std::uint32_t mask, bool verify,
                          hdf5_decoder& with, std::span<std::byte> out) const {
  if (!refusal_.empty()) throw hdf5_filter_error{refusal_};
  const auto is_done = [&](std::size_t i) { return ((mask >> i) & 1U) == 0; };

  // Follows the writer's order: computes the size of each filter's input, and finds the last filter
  // to be undone that moves bytes.
  std::array<given_size, max_filters> sizes;  // set below, for the filters that were applied
  std::size_t last_to_move = max_filters;
  given_size size{out.size(), true};
  for (std::size_t i = 0; i < undos_.size(); ++i) {
    if (!is_done(i)) continue;
    sizes[i] = size;
    size = after(undos_[i].effect, size, out.size());
    if (last_to_move == max_filters && undos_[i].function != nullptr) last_to_move = i;
  }

  std::span<const std::byte> data = stored;
  std::size_t turn = 0;
  for (std::size_t i = undos_.size(); i-- > 0;) {
    if (!is_done(i)) continue;
    try {
      if (undos_[i].effect == hdf5_size_effect::checksum) {
        if (data.size() < checksum_bytes)
          throw hdf5_filter_error{bytes(data.size()) + " are too few to hold a checksum"};
        if (verify) check_fletcher32(data);
        data = data.first(data.size() - checksum_bytes);
      } else if (undos_[i].function != nullptr) {
        given_size room = sizes[i];
        if (undos_[i].effect == hdf5_size_effect::none) {
          require_size(data.size(), room);
          room.bytes = data.size();
        }
        const bool is_last = i == last_to_move && room.bytes == out.size();
        const auto to = is_last ? out : with.between[turn].take(room.bytes);
        turn = 1 - turn;
        data = to.first(undos_[i].function(pipeline_[i].values, data, to, with));
      }
      require_size(data.size(), sizes[i]);
    } catch (const hdf5_filter_error& error) {
      throw hdf5_filter_error{title_of(pipeline_[i]) + ": " + error.what()};
    }
  }

  if (data.size() != out.size())
    throw hdf5_filter_error{"a chunk of " + bytes(out.size()) + " is stored, with no filter, in " +
                            bytes(data.size())};
  if (data.data() != out.data() && !out.empty()) std::memcpy(out.data(), data.data(), out.size());
}

}  // namespace feedline::detail
