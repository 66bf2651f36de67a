#include "image/resize/resampler.hpp"

#include "image/resize/filter_taps.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace feedline::detail {
namespace {

void sum_rows_plain(const std::uint8_t* rows, std::size_t stride,
                    std::span<const std::int16_t> weights, std::span<std::int16_t> line) {
  for (std::size_t x = 0; x < line.size(); ++x) {
    std::int32_t sum = row_half;
    for (std::size_t tap = 0; tap < weights.size(); ++tap)
      sum += std::int32_t{weights[tap]} * rows[tap * stride + x];
    line[x] = static_cast<std::int16_t>(sum >> row_shift);
  }
}

void sum_columns_plain(const std::int16_t* line, const resample_axis& columns, std::uint8_t* out,
                       const pixel_strides& strides) {
  for (std::uint32_t i = 0; i < columns.count(); ++i) {
    const auto weights = columns.weights(i);
    const std::int16_t* pixel =
        line + std::size_t{strides.channels} * (columns.first(i) - columns.used_begin());
    for (std::size_t channel = 0; channel < strides.channels; ++channel) {
      std::int32_t sum = column_half;
      for (std::size_t tap = 0; tap < weights.size(); ++tap)
        sum += std::int32_t{weights[tap]} * pixel[strides.channels * tap + channel];
      out[i * strides.pixel + channel * strides.channel] =
          static_cast<std::uint8_t>(std::clamp(sum >> column_shift, 0, 255));
    }
  }
}

#if defined(__SSE2__)

__m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

__m128i load_half(const void* from) {
  return _mm_loadl_epi64(static_cast<const __m128i*>(from));
}

void store(std::int16_t* to, __m128i low, __m128i high) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(low, high));
}

/// Two adjacent weights, repeated four times; the second is 0 if there is none.
__m128i two_weights(std::span<const std::int16_t> weights, std::size_t tap) {
  const auto first = static_cast<std::uint16_t>(weights[tap]);
  const auto second =
      static_cast<std::uint16_t>(tap + 1 < weights.size() ? weights[tap + 1] : std::int16_t{0});
  return _mm_set1_epi32(static_cast<std::int32_t>(first | std::uint32_t{second} << 16));
}

/// Takes two rows at a time: their bytes are interleaved, widened, multiplied and added in pairs.
void sum_rows_vector(const std::uint8_t* rows, std::size_t stride,
                     std::span<const std::int16_t> weights, std::span<std::int16_t> line) {
  const __m128i zero = _mm_setzero_si128();
  std::size_t x = 0;
  for (; x + 16 <= line.size(); x += 16) {
    __m128i sum0 = _mm_set1_epi32(row_half);
    __m128i sum1 = sum0;
    __m128i sum2 = sum0;
    __m128i sum3 = sum0;
    for (std::size_t tap = 0; tap < weights.size(); tap += 2) {
      const std::uint8_t* row = rows + tap * stride + x;
      const __m128i first = load(row);
      const __m128i second = tap + 1 < weights.size() ? load(row + stride) : zero;
      const __m128i both = two_weights(weights, tap);
      const __m128i low = _mm_unpacklo_epi8(first, second);
      const __m128i high = _mm_unpackhi_epi8(first, second);
      sum0 = _mm_add_epi32(sum0, _mm_madd_epi16(_mm_unpacklo_epi8(low, zero), both));
      sum1 = _mm_add_epi32(sum1, _mm_madd_epi16(_mm_unpackhi_epi8(low, zero), both));
      sum2 = _mm_add_epi32(sum2, _mm_madd_epi16(_mm_unpacklo_epi8(high, zero), both));
      sum3 = _mm_add_epi32(sum3, _mm_madd_epi16(_mm_unpackhi_epi8(high, zero), both));
    }
    store(&line[x], _mm_srai_epi32(sum0, row_shift), _mm_srai_epi32(sum1, row_shift));
    store(&line[x + 8], _mm_srai_epi32(sum2, row_shift), _mm_srai_epi32(sum3, row_shift));
  }
  sum_rows_plain(rows + x, stride, weights, line.subspan(x));
}

/// Takes two pixels at a time: their channels are interleaved, multiplied and added in pairs.
void sum_columns_vector(const std::int16_t* line, const resample_axis& columns, std::uint8_t* out,
                        const pixel_strides& strides) {
  if (strides.channels != 3) return sum_columns_plain(line, columns, out, strides);
  for (std::uint32_t i = 0; i < columns.count(); ++i) {
    const auto weights = columns.weights(i);
    const std::int16_t* pixel = line + std::size_t{3} * (columns.first(i) - columns.used_begin());
    __m128i sum = _mm_set1_epi32(column_half);
    for (std::size_t tap = 0; tap < weights.size(); tap += 2, pixel += 6) {
      const __m128i second = tap + 1 < weights.size() ? load_half(pixel + 3) : _mm_setzero_si128();
      sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_unpacklo_epi16(load_half(pixel), second),
                                              two_weights(weights, tap)));
    }
    sum = _mm_srai_epi32(sum, column_shift);
    sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
    const auto rgb = static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
    std::uint8_t* place = out + i * strides.pixel;
    place[0] = static_cast<std::uint8_t>(rgb);
    place[strides.channel] = static_cast<std::uint8_t>(rgb >> 8);
    place[2 * strides.channel] = static_cast<std::uint8_t>(rgb >> 16);
  }
}

#endif

}  // namespace

void resample_axis::plan(const request& wanted) {
  if (wanted == wanted_) return;
  taps_ = tap_count(wanted.filter, wanted.from, wanted.to);
  first_.resize(wanted.count);
  weights_.resize(std::size_t{wanted.count} * taps_);
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    const std::uint32_t at = wanted.begin + i;
    const std::uint32_t element = wanted.is_mirrored ? wanted.to - 1 - at : at;
    with_taps(wanted.filter, wanted.from, wanted.to, element, [&](auto taps) {
      const auto weights = std::span{weights_}.subspan(std::size_t{i} * taps_, taps_);
      first_[i] = wanted.is_mirrored ? wanted.from - taps_ - taps.first() : taps.first();
      std::int32_t before = 0;
      for (std::uint32_t tap = 0; tap < taps_; ++tap) {
        const std::int32_t after = taps.weight_before(tap + 1);
        weights[wanted.is_mirrored ? taps_ - 1 - tap : tap] =
            static_cast<std::int16_t>(after - before);
        before = after;
      }
    });
  }
  wanted_ = wanted;
}

resample_loops plain_resample_loops() noexcept {
  return {sum_rows_plain, sum_columns_plain};
}

resample_loops best_resample_loops() noexcept {
#if defined(__SSE2__)
  return {sum_rows_vector, sum_columns_vector};
#else
  return plain_resample_loops();
#endif
}

void resampler::resize(const pixel_image& from, const resample_window& window, image_layout layout,
                       std::span<std::byte> out) {
  const image_extents size = window.extents;
  const pixel_format format = from.format();
  assert(out.size() == format.pixel_bytes() * size.pixels());
  const bool in_planes = layout == image_layout::chw && format.channels != 1;
  const bool is_whole =
      window.source.extents.pixels() == 0 || window.source == image_box{0, 0, from.extents()};
  if (!in_planes && is_whole && from.extents() == window.resized && size == window.resized) {
    std::memcpy(out.data(), from.data(), out.size());
    return;
  }
  image_box source = window.source;
  if (source.extents.pixels() == 0) source = {0, 0, from.extents()};
  rows_.plan({source.extents.height, window.resized.height, window.top, size.height, filter_,
              window.mirrors_rows});
  columns_.plan({source.extents.width, window.resized.width, window.left, size.width, filter_,
                 window.mirrors_columns});
  const pixel_strides strides{in_planes ? 1U : format.channels,
                              in_planes ? static_cast<std::size_t>(size.pixels()) : 1,
                              format.channels};
  if (format.value_bytes == 2) return resize_wide(from, source, strides, out);

  const std::size_t channels = format.channels;
  const std::uint8_t* const pixels =
      from.data() + source.top * from.row_bytes() + channels * source.left;
  const std::size_t begin = channels * columns_.used_begin();
  const std::size_t elements = channels * columns_.used_end() - begin;
  if (line_.size() < elements + 1) line_.resize(elements + 1);
  const resample_loops loops = best_resample_loops();
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  for (std::uint32_t y = 0; y < size.height; ++y) {
    loops.sum_rows(pixels + rows_.first(y) * from.row_bytes() + begin, from.row_bytes(),
                   rows_.weights(y), std::span{line_}.first(elements));
    loops.sum_columns(line_.data(), columns_, to, strides);
    to += strides.pixel * size.width;
  }
}

/// The same for values of 16 bits, whose sums need more.
void resampler::resize_wide(const pixel_image& from, const image_box& source,
                            const pixel_strides& strides, std::span<std::byte> out) {
  const std::size_t channels = strides.channels;
  const std::size_t begin = channels * (source.left + columns_.used_begin());
  const std::size_t elements = channels * (source.left + columns_.used_end()) - begin;
  const auto* const pixels = reinterpret_cast<const std::uint16_t*>(from.data());
  auto* to = reinterpret_cast<std::uint16_t*>(out.data());
  wide_line_.resize(elements);
  for (std::uint32_t y = 0; y < rows_.count(); ++y, to += strides.pixel * columns_.count()) {
    const std::size_t stride = channels * from.extents().width;
    const std::uint16_t* const row = pixels + (source.top + rows_.first(y)) * stride + begin;
    for (std::size_t x = 0; x < elements; ++x) {
      std::int32_t sum = row_half;
      for (std::size_t tap = 0; tap < rows_.taps(); ++tap)
        sum += std::int32_t{rows_.weights(y)[tap]} * row[tap * stride + x];
      wide_line_[x] = sum >> row_shift;
    }
    for (std::uint32_t x = 0; x < columns_.count(); ++x)
      for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t first = channels * (columns_.first(x) - columns_.used_begin()) + channel;
        std::int64_t sum = column_half;
        for (std::size_t tap = 0; tap < columns_.taps(); ++tap)
          sum += std::int64_t{columns_.weights(x)[tap]} * wide_line_[first + channels * tap];
        to[x * strides.pixel + channel * strides.channel] =
            static_cast<std::uint16_t>(std::clamp<std::int64_t>(sum >> column_shift, 0, 65535));
      }
  }
}

}  // namespace feedline::detail
