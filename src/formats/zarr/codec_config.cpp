#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/codec_config.hpp"

#include "formats/zarr/data_type.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace feedline::detail {
namespace {

struct known_codec {
  std::string_view name;
  zarr_codec_kind kind;
};

constexpr std::array known_codecs{
    known_codec{"zlib", zarr_codec_kind::zlib},
    known_codec{"gzip", zarr_codec_kind::gzip},
    known_codec{"zstd", zarr_codec_kind::zstd},
    known_codec{"lz4", zarr_codec_kind::lz4},
    known_codec{"blosc", zarr_codec_kind::blosc},
    known_codec{"bz2", zarr_codec_kind::bz2},
    known_codec{"shuffle", zarr_codec_kind::shuffle},
    known_codec{"delta", zarr_codec_kind::delta},
    known_codec{"fixedscaleoffset", zarr_codec_kind::fixed_scale_offset},
    known_codec{"crc32c", zarr_codec_kind::crc32c},
    known_codec{"fletcher32", zarr_codec_kind::fletcher32},
};

/// A type that delta and fixedscaleoffset store or decode.
element_type counted_type(const zarr_members& config, const char* name) {
  const zarr_stored_type found = parse_v2_type(config.at(name), config);
  if (found.is_big_endian || found.type.is_complex || !is_counted(found.type.type))
    config.refuse_member(name, "a little-endian type of integers, f4 or f8");
  return found.type.type;
}

double number(const zarr_members& config, const char* name) {
  const zarr_json& value = config.at(name);
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    config.refuse_member(name, "a number");
  return value.get<double>();
}

void read_types(const zarr_members& config, std::size_t element_bytes, zarr_codec& codec) {
  codec.to = counted_type(config, "dtype");
  const zarr_json* const stored = config.find("astype");
  codec.stored = stored == nullptr || stored->is_null() ? codec.to : counted_type(config, "astype");
  if (size_bytes(codec.to) != element_bytes)
    config.refuse_member("dtype", "a type of " + std::to_string(element_bytes) +
                                      " bytes, as the array's elements have");
}

}  // namespace

std::optional<zarr_codec> parse_codec(const std::string& name, const zarr_members& config,
                                      std::size_t element_bytes) {
  std::string_view plain = name;
  constexpr std::string_view prefix = "numcodecs.";
  if (plain.starts_with(prefix)) plain.remove_prefix(prefix.size());
  // Rounded numbers stay as they are.
  if (plain == "bitround") return std::nullopt;
  if (plain == "quantize" &&
      (config.find("astype") == nullptr || config.at("astype") == config.at("dtype")))
    return std::nullopt;
  const auto* const known = std::ranges::find(known_codecs, plain, &known_codec::name);
  if (known == known_codecs.end())
    config.refuse(
        "is not one that feedline decodes: it decodes zstd, blosc, lz4, zlib, gzip, bz2, shuffle, "
        "delta, fixedscaleoffset, bitround, quantize, crc32c and fletcher32; write the array again "
        "with one "
        "of these");
  zarr_codec codec{.kind = known->kind, .name = std::string{plain}};
  if (codec.kind == zarr_codec_kind::shuffle) {
    codec.element_bytes = 4;  // numcodecs' default
    if (config.find("elementsize") != nullptr) {
      const std::uint64_t bytes = config.whole("elementsize");
      if (bytes == 0 || bytes > std::numeric_limits<std::uint32_t>::max())
        config.refuse_member("elementsize", "the bytes of an element, 1 or more");
      codec.element_bytes = static_cast<std::uint32_t>(bytes);
    }
  }
  if (codec.kind == zarr_codec_kind::blosc && config.find("cname") != nullptr)
    codec.compressor = config.text("cname");
  if (codec.kind == zarr_codec_kind::crc32c && config.find("location") != nullptr &&
      config.text("location") != "end")
    config.refuse_member("location", "\"end\"");
  if (codec.kind == zarr_codec_kind::delta) read_types(config, element_bytes, codec);
  if (codec.kind == zarr_codec_kind::fixed_scale_offset) {
    read_types(config, element_bytes, codec);
    if (codec.to != element_type::f32 && codec.to != element_type::f64)
      config.refuse_member("dtype", "f4 or f8: whole numbers would be cut");
    codec.scale = number(config, "scale");
    codec.offset = number(config, "offset");
    if (codec.scale == 0) config.refuse_member("scale", "a number other than 0");
  }
  return codec;
}

}  // namespace feedline::detail

#endif
