#include <feedline/error.hpp>

#include "detail/printable.hpp"
#include "formats/columns/packed_shards.hpp"
#include "hdf5/filter/undo.hpp"

#include <memory>
#include <string>

namespace feedline::detail {
namespace {

std::size_t undo(shard_codec codec, std::span<const std::byte> stored, std::span<std::byte> out) {
  thread_local hdf5_decoder with;  // expensive to make
  switch (codec) {
#ifdef FEEDLINE_HAS_ZSTD
    case shard_codec::zstd:
      return undo_zstd({}, stored, out, with);
#endif
#ifdef FEEDLINE_HAS_BZIP2
    case shard_codec::bz2:
      return undo_bzip2({}, stored, out, with);
#endif
    case shard_codec::gzip:
      return undo_gzip(stored, out, with);
    default:
      break;
  }
  if (stored.size() != out.size())
    throw hdf5_filter_error{"has " + std::to_string(stored.size()) + " bytes"};
  std::copy(stored.begin(), stored.end(), out.begin());
  return stored.size();
}

[[noreturn]] void refuse_codec(std::string_view name, const std::string& why) {
  throw dataset_error{{},
                      "the shards are compressed by '" + printable(name) + "', " + why +
                          "; decompress them and write the index again, or write the set without "
                          "compression"};
}

}  // namespace

shard_codec find_shard_codec(std::string_view name) {
  const std::string_view family = name.substr(0, name.find(':'));
  if (family.empty()) return shard_codec::none;
  if (family == "gz" || family == "gzip") return shard_codec::gzip;
#ifdef FEEDLINE_HAS_ZSTD
  if (family == "zstd") return shard_codec::zstd;
#else
  if (family == "zstd") refuse_codec(name, "and this feedline was built without libzstd");
#endif
#ifdef FEEDLINE_HAS_BZIP2
  if (family == "bz2") return shard_codec::bz2;
#else
  if (family == "bz2") refuse_codec(name, "and this feedline was built without libbz2");
#endif
  refuse_codec(name, "which feedline does not undo (it knows zstd, gz and bz2)");
}

std::span<std::byte> unpack_shard(shard_codec codec, std::span<const std::byte> stored,
                                  std::span<std::byte> out, std::uint64_t slack) {
  std::size_t bytes = 0;
  try {
    bytes = undo(codec, stored, out);
  } catch (const hdf5_filter_error& error) {
    throw dataset_error{{},
                        std::string{"the shard does not decompress: "} + error.what() +
                            "; it is damaged, or the index is of another one: get both again"};
  }
  if (bytes == out.size() || bytes + slack == out.size()) return out.first(bytes);
  throw dataset_error{{},
                      "the shard decompresses to " + std::to_string(bytes) +
                          " bytes, but the index says " + std::to_string(out.size()) +
                          "; get both again"};
}

}  // namespace feedline::detail
