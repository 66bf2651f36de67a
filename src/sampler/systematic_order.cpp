#include "sampler/systematic_order.hpp"

#include <feedline/error.hpp>

#include "detail/sample_range.hpp"
#include "sampler/draws.hpp"
#include "sampler/weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

// Make the keys of the draws differ from each other, and from other orders'; odd, otherwise
// arbitrary.
constexpr std::uint64_t place_role = 0x5895'86CE'75F0'2D4B;
constexpr std::uint64_t group_role = 0xC6BC'2796'92B5'CC83;
constexpr std::uint64_t point_role = 0xAEF1'7502'108E'F2D9;
constexpr std::uint64_t start_role = 0xF0CD'3E9A'B6D5'1B47;

constexpr std::size_t max_groups = 64;
constexpr unsigned line_bits = 62;  ///< so that a length and a carry fit in 64

/// How many of the greatest weights have a chance of 1 or more, of `count` samples to draw.
std::uint64_t certain_of(std::vector<std::uint64_t> weights, std::uint64_t count,
                         std::uint64_t& least) {
  std::sort(weights.begin(), weights.end(), std::greater<>{});
  u128 rest = std::accumulate(weights.begin(), weights.end(), u128{0});
  std::uint64_t certain = 0;
  while (certain < count && weights[certain] != 0 &&
         u128{weights[certain]} * (count - certain) >= rest)
    rest -= least = weights[certain++];
  return certain;
}

/// Each sample's length. Samples whose chance would be more than 1 get 1, and the others share the
/// rest in proportion to their weights alone, which are converted to new integers.
std::vector<std::uint64_t> lengths_of(std::span<const double> weights, std::uint64_t count,
                                      unsigned shift) {
  std::vector<double> others(weights.begin(), weights.end());
  std::vector<std::uint64_t> lengths(weights.size(), 0);
  while (count != 0) {
    std::vector<std::uint64_t> integers = integer_weights("weighted", others);
    std::uint64_t least = 0;
    const std::uint64_t certain = certain_of(integers, count, least);
    if (certain == 0) {
      divide_among(integers, count << shift);
      for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] += integers[i];
      break;
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (integers[i] < least) continue;
      lengths[i] = std::uint64_t{1} << shift;
      others[i] = 0;
    }
    count -= certain;
  }
  return lengths;
}

}  // namespace

std::uint64_t systematic_order::line::place_at(std::uint64_t point) const noexcept {
  const std::uint64_t cell = point >> cell_shift;
  const auto begin = ends.begin() + guide[cell];
  const auto end = cell + 1 < guide.size() ? ends.begin() + guide[cell + 1] : ends.end() - 1;
  return static_cast<std::uint64_t>(std::upper_bound(begin, end, point) - ends.begin());
}

/// How one epoch lays the groups.
class systematic_order::arrangement {
 public:
  arrangement(const systematic_order& of, std::uint64_t epoch)
      : line_{*of.line_},
        count_{std::min<std::uint64_t>(max_groups, of.samples())},
        shift_{of.shift_},
        point_{draw(epoch_key(of.seed_ ^ point_role, epoch), 0) >> (64 - of.shift_)},
        points_{of.epoch_size_, of.seed_ ^ point_role, epoch} {
    std::array<sample_index, max_groups> order;
    bijection{count_, of.seed_ ^ group_role, epoch}.evaluate(position{0},
                                                             std::span{order}.first(count_));
    const std::uint64_t key = epoch_key(of.seed_ ^ start_role, epoch);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t first = of.samples() * order[i].value / count_;
      const std::uint64_t behind = of.samples() * (order[i].value + 1) / count_;
      const std::uint64_t begin = line_.start(first);
      const std::uint64_t length = line_.start(behind) - begin;
      const std::uint64_t turned = line_.start(first + scaled(draw(key, i), behind - first));
      groups_[i] = {begin, length, turned - begin};
      ends_[i] = end += length;
    }
  }

  /// Writes the line's indices of the samples at positions from `first` on.
  void write(position first, std::span<sample_index> out) const noexcept {
    points_.evaluate(first, out);
    for (sample_index& sample : out) {
      const std::uint64_t point = (sample.value << shift_) + point_;
      const std::size_t at = part_at(std::span{ends_}.first(count_), point);
      const group& within = groups_[at];
      std::uint64_t offset = point - (ends_[at] - within.length) + within.turn;
      if (offset >= within.length) offset -= within.length;
      sample = {line_.place_at(within.begin + offset)};
    }
  }

 private:
  struct group {
    std::uint64_t begin;  ///< on the line as it is kept
    std::uint64_t length;
    std::uint64_t turn;  ///< length that is moved to the end
  };

  const line& line_;
  std::size_t count_;
  unsigned shift_;
  std::uint64_t point_;  ///< the first
  bijection points_;     ///< order of the points
  std::array<group, max_groups> groups_;
  std::array<std::uint64_t, max_groups> ends_;  ///< ends of the groups, as the epoch arranges them
};

systematic_order::systematic_order(std::span<const double> weights, std::uint64_t seed,
                                   std::uint64_t epoch_size)
    : seed_{seed},
      epoch_size_{epoch_size},
      shift_{line_bits - static_cast<unsigned>(std::bit_width(epoch_size))},
      places_{weights.size(), seed ^ place_role, 0} {
  const auto drawable = static_cast<std::uint64_t>(
      std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; }));
  if (epoch_size == 0)
    throw usage_error{
        "weighted_options::epoch_size is 0; without replacement, say how many samples an epoch "
        "draws, 1 to " +
        std::to_string(drawable)};
  if (epoch_size > drawable)
    throw usage_error{"weighted_options::epoch_size is " + std::to_string(epoch_size) + ", but " +
                      std::to_string(drawable) +
                      " weights are above 0; without replacement, draw no more than that"};
  const std::vector<std::uint64_t> lengths = lengths_of(weights, epoch_size, shift_);

  line laid;
  laid.ends.resize(weights.size());
  constexpr std::size_t block_samples = 256;
  std::array<sample_index, block_samples> samples;
  std::uint64_t end = 0;
  for (std::size_t place = 0; place < weights.size(); place += block_samples) {
    const auto run = std::span{samples}.first(std::min(block_samples, weights.size() - place));
    places_.evaluate(position{place}, run);
    for (std::size_t i = 0; i < run.size(); ++i)
      laid.ends[place + i] = end += lengths[run[i].value];
  }
  while ((end - 1) >> laid.cell_shift >= weights.size()) ++laid.cell_shift;
  laid.guide.resize(((end - 1) >> laid.cell_shift) + 1);
  std::uint64_t place = 0;
  for (std::size_t cell = 0; cell < laid.guide.size(); ++cell) {
    while (laid.ends[place] <= std::uint64_t{cell} << laid.cell_shift) ++place;
    laid.guide[cell] = static_cast<std::uint32_t>(place);
  }
  line_ = std::make_shared<const line>(std::move(laid));
}

std::size_t systematic_order::table_bytes() const noexcept {
  return line_->ends.size() * sizeof(std::uint64_t) + line_->guide.size() * sizeof(std::uint32_t);
}

std::uint64_t systematic_order::size(std::uint64_t samples) const {
  require_samples("weighted", "weights", line_->ends.size(), samples);
  return epoch_size_;
}

void systematic_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                               std::span<sample_index> out) const {
  (void)size(samples);
  if (out.empty()) return;
  arrangement{*this, epoch}.write(first, out);
  places_.evaluate(out);
}

}  // namespace feedline::detail
