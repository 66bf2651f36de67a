#include "image/pnm_header.hpp"
#include "image/reader.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace feedline::detail {
namespace {

class header_reader {
 public:
  explicit header_reader(std::span<const std::byte> file) : rest_{file.subspan(1)} {}

  pnm_header read() {
    const char kind = next();
    if (kind != '5' && kind != '6')
      throw image_error{std::string{"it is a PNM of kind P"} + kind +
                        "; only P5 (PGM) and P6 (PPM) are read"};
    pnm_header header{.extents = {}, .channels = kind == '6' ? 3U : 1U};
    header.extents.width = number();
    header.extents.height = number();
    header.largest = number();
    if (header.largest == 0 || header.largest > 65535)
      throw image_error{"its largest value is " + std::to_string(header.largest) +
                        ", and must be 1 to 65535"};
    if (!is_space(next())) throw image_error{"its header is damaged"};
    header.rest = rest_;
    return header;
  }

 private:
  static bool is_space(char letter) {
    return std::isspace(static_cast<unsigned char>(letter)) != 0;
  }

  char next() {
    if (rest_.empty()) throw image_error{"the file ends early"};
    const char letter = std::to_integer<char>(rest_.front());
    rest_ = rest_.subspan(1);
    return letter;
  }

  /// A number of the header, after spaces and comments.
  std::uint32_t number() {
    char letter = next();
    while (is_space(letter) || letter == '#') {
      if (letter == '#')
        while (letter != '\n') letter = next();
      letter = next();
    }
    std::uint64_t value = 0;
    for (;; letter = next()) {
      if (letter < '0' || letter > '9') throw image_error{"its header is damaged"};
      value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(letter - '0'), UINT32_MAX);
      if (rest_.empty() || std::isdigit(std::to_integer<unsigned char>(rest_.front())) == 0)
        return static_cast<std::uint32_t>(value);
    }
  }

  std::span<const std::byte> rest_;
};

/// PPM and PGM with binary values: "P6" and "P5".
class pnm_reader final : public image_reader {
 public:
  explicit pnm_reader(pixel_format wanted) : wanted_{wanted} {}

  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override {
    const auto [extents, channels, most, stored_values] = read_pnm_header(file);
    const resample_window window = cut(extents);
    const std::uint32_t bytes = most > 255 ? 2 : 1;
    const std::uint32_t value_bytes = std::min(bytes, wanted_.value_bytes);
    const std::uint64_t values = extents.pixels() * channels;
    if (stored_values.size() < values * bytes) throw image_error{"the file ends early"};
    out.resize(extents, {.channels = channels, .value_bytes = value_bytes});
    const auto* from = reinterpret_cast<const std::uint8_t*>(stored_values.data());
    std::uint8_t* to = out.data();
    const std::uint32_t full = value_bytes == 2 ? 65535 : 255;
    for (std::uint64_t i = 0; i < values; ++i, from += bytes, to += value_bytes) {
      const std::uint32_t stored = bytes == 2 ? from[0] * 256U + from[1] : from[0];
      const auto value = static_cast<std::uint16_t>(
          (std::uint64_t{std::min(stored, most)} * full + most / 2) / most);
      if (value_bytes == 2)
        std::memcpy(to, &value, sizeof value);
      else
        *to = static_cast<std::uint8_t>(value);
    }
    return window;
  }

 private:
  pixel_format wanted_;
};

}  // namespace

pnm_header read_pnm_header(std::span<const std::byte> file) {
  return header_reader{file}.read();
}

std::unique_ptr<image_reader> make_pnm_reader(pixel_format wanted) {
  return std::make_unique<pnm_reader>(wanted);
}

}  // namespace feedline::detail
