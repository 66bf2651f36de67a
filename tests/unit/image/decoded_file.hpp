#pragma once

#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "support/checks/message_of.hpp"
#include "support/images/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// A file that the decoder of images decodes, or refuses.

namespace feedline::test {

/// Options under which an image of this size is not resized.
inline image_options as_it_is(std::uint32_t height, std::uint32_t width) {
  return {.height = height, .width = width};
}

/// Its pixels.
inline std::vector<std::uint8_t> decode(std::span<const std::byte> file,
                                        const image_options& options) {
  const decoder_ptr decoder = make_image_decoder(options);
  const field spec = decoder->describe(file);
  std::vector<std::uint8_t> out(sample_bytes(spec), 0xcd);
  decoder->decode(file, spec, std::as_writable_bytes(std::span{out}), {});
  return out;
}

/// Why it is refused.
inline std::string refusal(std::span<const std::byte> file, const image_options& options) {
  return message_of<dataset_error>([&] { (void)decode(file, options); });
}

/// Beginning of all refusals.
inline const std::string undecodable = "the image cannot be decoded: ";

/// Position of a marker: 0xff and its second byte.
inline std::size_t find_marker(const byte_vector& file, unsigned second) {
  for (std::size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte(second)) return i;
  return file.size();
}

}  // namespace feedline::test
