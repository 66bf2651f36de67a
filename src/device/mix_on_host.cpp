#include "device/assemble_on_host.hpp"
#include "device/element_lines.hpp"
#include "device/sample_mix.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Compiled with -ffp-contract=off: rounded.hpp says why.

namespace feedline::detail {
namespace {

constexpr std::size_t mixed_elements = 512;

/// A field's rows as images: planes of `height` lines.
struct row_lines {
  element_type type;
  std::size_t row_elements;
  std::uint32_t height;
  std::size_t line_elements;
  std::size_t pixel_elements;
};

/// A stretch of a line, before it is mixed.
struct stretch {
  std::array<std::byte, mixed_elements * sizeof(float)> bytes;
  std::array<float, mixed_elements> values;
};

/// Mixes two partners' rows of a field in place.
class pair_mixer {
 public:
  explicit pair_mixer(const row_lines& lines) noexcept
      : lines_{lines},
        word_bytes_{size_bytes(lines.type)},
        read_{line_reader_of<float>(lines.type)},
        write_{line_writer_of<float>(lines.type, lines.type)} {}

  void mix(std::byte* first, std::byte* second, const sample_mix& of_first,
           const sample_mix& of_second) noexcept {
    const std::uint64_t lines = lines_.row_elements / lines_.line_elements;
    weighs_ = is_weighed(of_first) || is_weighed(of_second);
    for (std::uint64_t line = 0; line < lines; ++line) {
      const auto y = static_cast<std::uint32_t>(line % lines_.height);
      if (!changes_line(of_first, y) && !changes_line(of_second, y)) continue;
      for (std::size_t from = 0; from < lines_.line_elements; from += mixed_elements) {
        const std::size_t count = std::min(mixed_elements, lines_.line_elements - from);
        const std::size_t at = (line * lines_.line_elements + from) * word_bytes_;
        load(first + at, count, first_);
        load(second + at, count, second_);
        store(of_first, y, from, count, first_, second_, first + at);
        store(of_second, y, from, count, second_, first_, second + at);
      }
    }
  }

 private:
  static bool is_weighed(const sample_mix& mix) noexcept { return mix.changes() && !mix.cuts(); }
  static bool changes_line(const sample_mix& mix, std::uint32_t y) noexcept {
    return mix.cuts() ? y - mix.box.top < mix.box.height : mix.changes();
  }

  void load(const std::byte* in, std::size_t count, stretch& to) const noexcept {
    std::memcpy(to.bytes.data(), in, count * word_bytes_);
    if (weighs_) read_(in, static_cast<std::ptrdiff_t>(count), to.values.data());
  }

  /// @param from The stretch's first element in its line.
  void store(const sample_mix& mix, std::uint32_t y, std::size_t from, std::size_t count,
             const stretch& own, const stretch& other, std::byte* out) noexcept {
    if (!changes_line(mix, y)) return;
    if (mix.cuts()) {
      const std::size_t left = mix.box.left * lines_.pixel_elements;
      const std::size_t right = left + mix.box.width * lines_.pixel_elements;
      const std::size_t begin = std::clamp(left, from, from + count) - from;
      const std::size_t end = std::clamp(right, from, from + count) - from;
      std::memcpy(out + begin * word_bytes_, other.bytes.data() + begin * word_bytes_,
                  (end - begin) * word_bytes_);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        mixed_[i] = mixed_value(mix.own, own.values[i], other.values[i]);
      constexpr affine as_it_is{1.0F, -0.0F};
      write_(mixed_.data(), 1, out, 1, static_cast<std::ptrdiff_t>(count), as_it_is);
    }
  }

  row_lines lines_;
  std::size_t word_bytes_;
  line_reader<float> read_;
  line_writer<float> write_;
  bool weighs_ = false;  ///< some element is a weighted sum
  stretch first_;        // NOLINT: filled before it is read, and so are the next
  stretch second_;       // NOLINT
  std::array<float, mixed_elements> mixed_;  // NOLINT
};

class slot_mixing {
 public:
  explicit slot_mixing(const assembly& work) noexcept
      : work_{work}, by_{*work.mixing}, images_{image_lines()}, labels_{label_lines()} {}

  void mix() noexcept {
    for (std::uint64_t batch = 0; batch * work_.batch_size < work_.samples; ++batch) {
      const std::uint64_t first = batch * work_.batch_size;
      const std::uint64_t count = std::min(work_.batch_size, work_.samples - first);
      for (std::uint64_t place = 0; place + 1 < count; place += 2) mix_pair(batch, place);
    }
  }

 private:
  [[nodiscard]] row_lines image_lines() const noexcept {
    return {by_.image_type, elements(by_.image, by_.image_type), by_.height,
            std::size_t{by_.width} * by_.pixel_elements, by_.pixel_elements};
  }
  [[nodiscard]] row_lines label_lines() const noexcept {
    if (by_.label == pair_mixing::none) return {by_.label_type, 0, 1, 1, 1};
    const std::size_t count = elements(by_.label, by_.label_type);
    return {by_.label_type, count, 1, count, 1};
  }
  [[nodiscard]] std::size_t elements(std::size_t field, element_type type) const noexcept {
    return work_.fields[field].to_row_bytes / size_bytes(type);
  }
  [[nodiscard]] sample_mix mix_at(std::uint64_t batch, std::uint64_t place) const noexcept {
    const auto bits_at = [&](std::uint32_t at) {
      std::uint32_t random_bits = 0;
      std::memcpy(&random_bits,
                  work_.copy_destination + work_.random_bits_at +
                      (batch * work_.batch_size + at) * sizeof random_bits,
                  sizeof random_bits);
      return random_bits;
    };
    return mix_of(by_, mixing_bits(by_.draws, work_.epoch_bits,
                                   work_.first_batch + static_cast<std::uint32_t>(batch),
                                   static_cast<std::uint32_t>(place), bits_at));
  }

  void mix_pair(std::uint64_t batch, std::uint64_t place) noexcept {
    const sample_mix of_first = mix_at(batch, place);
    const sample_mix of_second = mix_at(batch, place + 1);
    if (!of_first.changes() && !of_second.changes()) return;
    const auto row = [&](std::size_t field) {
      const field_assembly& of = work_.fields[field];
      return work_.slot + batch * work_.batch_bytes + of.to_offset + place * of.to_row_bytes;
    };
    std::byte* const image = row(by_.image);
    images_.mix(image, image + work_.fields[by_.image].to_row_bytes, of_first, of_second);
    if (by_.label == pair_mixing::none) return;
    std::byte* const label = row(by_.label);
    labels_.mix(label, label + work_.fields[by_.label].to_row_bytes, {of_first.own, {}},
                {of_second.own, {}});
  }

  const assembly& work_;
  const pair_mixing& by_;
  pair_mixer images_;
  pair_mixer labels_;
};

}  // namespace

void mix_on_host(const assembly& work) noexcept {
  slot_mixing{work}.mix();
}

}  // namespace feedline::detail
