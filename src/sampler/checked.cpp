#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/testing/checked.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr std::uint64_t max_alone = 8;  ///< positions of a run that are asked by themselves
constexpr std::uint64_t probe_positions = 256;

/// One question and its answers, asked again in parts.
class inquiry {
 public:
  inquiry(const sampler& order, std::uint64_t samples, std::uint64_t epoch, position first,
          std::span<const sample_index> answers)
      : order_{order}, samples_{samples}, epoch_{epoch}, first_{first.value}, answers_{answers} {}

  /// @throws usage_error at the first position of the part whose answer now differs.
  void ask_again(std::uint64_t begin, std::uint64_t count) const {
    std::vector<sample_index> again(count, sample_index{UINT64_MAX});
    order_.indices(samples_, epoch_, position{first_ + begin}, again);
    const auto known = answers_.subspan(begin, count);
    const auto [was, is] = std::mismatch(known.begin(), known.end(), again.begin());
    if (was == known.end()) return;
    const auto place = begin + static_cast<std::uint64_t>(was - known.begin());
    throw usage_error{"checked: the sampler is not pure: at position " +
                      std::to_string(first_ + place) + " of epoch " + std::to_string(epoch_) +
                      " it gives sample " + std::to_string(was->value) + " when asked for " +
                      run_of(0, answers_.size()) + ", and sample " + std::to_string(is->value) +
                      " when asked again for " + run_of(begin, count) +
                      "; its answer may depend on the epoch and the position alone"};
  }

  /// @throws usage_error if an answer is not a sample of the dataset.
  void require_in_range() const {
    const auto bad = std::find_if(answers_.begin(), answers_.end(),
                                  [this](sample_index answer) { return answer.value >= samples_; });
    if (bad == answers_.end()) return;
    const auto place = static_cast<std::uint64_t>(bad - answers_.begin());
    throw usage_error{"checked: at position " + std::to_string(first_ + place) + " of epoch " +
                      std::to_string(epoch_) + " the sampler gives sample " +
                      std::to_string(bad->value) + ", but the dataset has samples 0 to " +
                      std::to_string(samples_ - 1) +
                      "; correct its indices(), which must write every element of `out`"};
  }

 private:
  std::string run_of(std::uint64_t begin, std::uint64_t count) const {
    return std::to_string(count) + " from position " + std::to_string(first_ + begin);
  }

  const sampler& order_;
  std::uint64_t samples_;
  std::uint64_t epoch_;
  std::uint64_t first_;
  std::span<const sample_index> answers_;
};

}  // namespace

std::uint64_t checked::size(std::uint64_t samples) const {
  const std::uint64_t first = order_.size(samples);
  const std::uint64_t second = order_.size(samples);
  if (first != second)
    throw usage_error{"checked: the sampler is not pure: over " + std::to_string(samples) +
                      " samples its size is " + std::to_string(first) + ", and " +
                      std::to_string(second) + " when asked again"};
  return first;
}

void checked::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                      std::span<sample_index> out) const {
  std::ranges::fill(out, sample_index{UINT64_MAX});  // to detect positions that are not written
  order_.indices(samples, epoch, first, out);
  if (out.empty()) return;
  const inquiry asked{order_, samples, epoch, first, out};
  asked.require_in_range();
  std::array<sample_index, 1> other;  // a question in between: its answer does not matter
  order_.indices(samples, epoch + 1, first, other);
  const std::uint64_t count = out.size();
  asked.ask_again(count / 2, count - count / 2);
  asked.ask_again(0, count);  // so that each position is also asked an odd number of positions
                              // after the first
  asked.ask_again(0, count / 2);
  for (std::uint64_t i = 0; i < std::min(count, max_alone); ++i)
    asked.ask_again(count - 1 - i * (count / std::min(count, max_alone)), 1);
}

sampler checked::bind(const dataset& of, std::uint64_t batch_size) const {
  const checked bound{order_.bind(of, batch_size)};
  const std::uint64_t samples = of.size();
  const std::uint64_t positions = samples == 0 ? 0 : bound.size(samples);
  const std::uint64_t count = std::min(positions, probe_positions);
  std::vector<sample_index> answers(count);
  constexpr std::uint64_t distant = 1'000'000;
  for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, distant})
    for (const std::uint64_t first : {std::uint64_t{0}, (positions - count) / 2, positions - count})
      bound.indices(samples, epoch, position{first}, answers);
  return bound;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
