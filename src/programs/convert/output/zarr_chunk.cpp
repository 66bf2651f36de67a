#include "programs/convert/output/zarr_chunk.hpp"

#include "programs/convert/output/compress.hpp"

#include <spdlog/fmt/fmt.h>

namespace convert {

std::vector<std::byte> compress_zarr_chunk(std::span<const std::byte> plain,
                                           const hdf5_layout& layout, bool is_v3) {
  switch (layout.filter) {
    case compression::none:
      break;
    case compression::deflate:
      return compress_deflate(plain, layout.level,
                              is_v3 ? deflate_frame::gzip : deflate_frame::zlib);
    case compression::lz4: {
      constexpr std::size_t header = 4;  // the size, least significant byte first
      auto packed = compress_lz4(plain, header);
      for (std::size_t i = 0; i < header; ++i)
        packed[i] = static_cast<std::byte>(plain.size() >> (8 * i) & 0xff);
      return packed;
    }
    case compression::zstd:
      return compress_zstd(plain, layout.level);
  }
  return {plain.begin(), plain.end()};
}

std::string zarr_codec_json(const hdf5_layout& layout, bool is_v3) {
  switch (layout.filter) {
    case compression::none:
      return is_v3 ? "" : "null";
    case compression::deflate:
      return is_v3 ? fmt::format(R"(, {{"name": "gzip", "configuration": {{"level": {}}}}})",
                                 layout.level)
                   : fmt::format(R"({{"id": "zlib", "level": {}}})", layout.level);
    case compression::lz4:
      return is_v3 ? R"(, {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}})"
                   : R"({"id": "lz4", "acceleration": 1})";
    case compression::zstd:
      return is_v3
                 ? fmt::format(R"(, {{"name": "zstd", "configuration": )"
                               R"({{"level": {}, "checksum": false}}}})",
                               layout.level)
                 : fmt::format(R"({{"id": "zstd", "level": {}, "checksum": false}})", layout.level);
  }
  return {};
}

}  // namespace convert
