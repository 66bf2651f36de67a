#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace feedline::test {

/// Draws what is packed, and what damage it takes then.
class content_maker {
 public:
  using bytes = std::vector<unsigned char>;

  explicit content_maker(unsigned seed) : random_{seed} {}

  std::size_t below(std::size_t count) { return random_() % count; }
  unsigned char byte() { return static_cast<unsigned char>(random_()); }

  static constexpr std::size_t kinds = 9;

  bytes plain(std::size_t kind, std::size_t size) {
    bytes made(size);
    for (std::size_t i = 0; i < size;) {
      switch (kind) {
        case 0:
          made[i++] = byte();
          break;
        case 1:
          made[i++] = 0;
          break;
        case 2:  // few are frequent
          made[i++] = static_cast<unsigned char>(byte() & byte() & byte());
          break;
        case 3:
          made[i++] = static_cast<unsigned char>("the quick brown fox "[below(20)]);
          break;
        case 4:  // strokes on a background
          i += 8 + below(24);
          for (std::size_t ink = 2 + below(5); ink > 0 && i < size; --ink) made[i++] = byte();
          break;
        case 5:  // repeats of near and far bytes, again and again
          for (std::size_t n = 3 + below(40), at = below(i + 1); n > 0 && i < size; --n, ++i)
            made[i] = below(20) != 0 && at + 1 < i ? made[at++] : byte();
          break;
        case 6:  // a slope
          made[i] = static_cast<unsigned char>(i / 7 * 3 % 61 + i % 4);
          ++i;
          break;
        case 7:  // the planes of shuffled floats
          made[i] =
              i < size / 2 ? byte() : static_cast<unsigned char>(0x3C + (byte() & byte() & 3));
          ++i;
          break;
        default:  // long repetitions
          for (std::size_t n = below(9000), far = 1 + below(70'000); n > 0 && i < size; --n, ++i)
            made[i] = far <= i ? made[i - far] : byte();
          if (i < size) made[i++] = byte();
      }
    }
    return made;
  }

  void damage(bytes& packed) {
    switch (below(7)) {
      case 0:
        packed[below(packed.size())] ^= static_cast<unsigned char>(1U << below(8));
        break;
      case 1:
        for (std::size_t i = 0; i < 4; ++i) packed[below(packed.size())] = byte();
        break;
      case 2:
        packed.resize(below(packed.size()));
        break;
      case 3:
        packed.resize(packed.size() + below(9), byte());
        break;
      case 4:
        std::swap(packed[below(packed.size())], packed[below(packed.size())]);
        break;
      case 5:  // in the headers and codes, most likely
        packed[below(std::min<std::size_t>(packed.size(), 40))] ^=
            static_cast<unsigned char>(1U << below(8));
        break;
      default:
        for (std::size_t i = below(std::min<std::size_t>(packed.size(), 60)); i < packed.size();
             ++i)
          packed[i] = byte();
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace feedline::test
