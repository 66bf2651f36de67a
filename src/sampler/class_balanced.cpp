#include <feedline/error.hpp>
#include <feedline/sampler/class_balanced.hpp>

#include "sampler/bucket_order.hpp"
#include "sampler/draws.hpp"
#include "sampler/field_values.hpp"
#include "sampler/ranked.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr std::uint64_t round_role = 0xB492'B66F'BE98'F273;
constexpr std::uint64_t class_role = 0x9AE1'6A3B'2F90'404F;

/// @throws usage_error if not just the labels from 0 up to `classes` - 1 occur.
void require_classes(std::span<const std::int64_t> labels, const std::set<std::int64_t>& found,
                     std::uint64_t classes) {
  const auto is_outside = [classes](std::int64_t label) {
    return label < 0 || static_cast<std::uint64_t>(label) >= classes;
  };
  if (is_outside(*found.begin()) || is_outside(*found.rbegin())) {
    const auto bad = std::find_if(labels.begin(), labels.end(), is_outside);
    throw usage_error{"class_balanced: the label of sample " +
                      std::to_string(bad - labels.begin()) + " is " + std::to_string(*bad) +
                      ", but class_balanced_options::classes is " + std::to_string(classes) +
                      "; labels are 0 to " + std::to_string(classes - 1)};
  }
  if (found.size() == classes) return;
  std::uint64_t missing = 0;
  while (found.contains(static_cast<std::int64_t>(missing))) ++missing;
  throw usage_error{"class_balanced: no sample has label " + std::to_string(missing) + ", and " +
                    std::to_string(classes - found.size()) + " of " + std::to_string(classes) +
                    " classes have none; leave class_balanced_options::classes 0 to draw from the "
                    "classes that have samples"};
}

/// The samples of each label, from the least to the greatest.
std::shared_ptr<const detail::length_buckets> classes_of(std::span<const std::int64_t> labels,
                                                         std::uint64_t classes) {
  if (labels.empty())
    throw usage_error{"class_balanced: there are no labels; give it one for each sample"};
  const std::set<std::int64_t> found(labels.begin(), labels.end());
  if (classes != 0) require_classes(labels, found, classes);
  // Maps labels to unsigned numbers in the same order.
  const auto unsigned_of = [](std::int64_t label) {
    return static_cast<std::uint64_t>(label) ^ (std::uint64_t{1} << 63);
  };
  std::vector<std::uint64_t> values(labels.size());
  std::transform(labels.begin(), labels.end(), values.begin(), unsigned_of);
  std::vector<std::uint64_t> boundaries;
  for (auto label = std::next(found.begin()); label != found.end(); ++label)
    boundaries.push_back(unsigned_of(*label));
  return std::make_shared<const detail::length_buckets>(values, std::move(boundaries));
}

/// The classes at one round's positions from `first` on. For few classes a permutation is cheaper
/// than a bijection.
void write_round(std::uint64_t classes, std::uint64_t seed, std::uint64_t round,
                 std::uint64_t first, std::span<detail::ranked> out) noexcept {
  std::array<sample_index, detail::max_ranked> order;
  constexpr std::uint64_t few = 64;
  if (classes > few) {
    detail::bijection{classes, seed, round}.evaluate(position{first},
                                                     std::span{order}.first(out.size()));
    first = 0;
  } else {  // R. Durstenfeld, "Algorithm 235: Random permutation", CACM 1964, from the inside out
    const std::uint64_t key = detail::epoch_key(seed, round);
    for (std::uint64_t i = 0; i < classes; ++i) {
      const std::uint64_t other = detail::scaled(detail::draw(key, i), i + 1);
      order[i] = order[other];
      order[other] = {i};
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {order[first + i].value, round};
}

/// The classes at some positions of the endless sequence. A class's rank is the round.
void write_rounds(std::uint64_t classes, std::uint64_t seed, std::uint64_t place,
                  std::span<detail::ranked> out) noexcept {
  while (!out.empty()) {
    const std::uint64_t at = place % classes;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), classes - at));
    write_round(classes, seed, place / classes, at, run);
    out = out.subspan(run.size());
    place += run.size();
  }
}

}  // namespace

class_balanced::class_balanced(std::span<const std::int64_t> labels,
                               const class_balanced_options& options)
    : seed_{options.seed},
      epoch_size_{options.epoch_size != 0 ? options.epoch_size : labels.size()},
      classes_{classes_of(labels, options.classes)} {}

class_balanced::class_balanced(const dataset_ptr& of, const std::string& field_name,
                               const class_balanced_options& options)
    : class_balanced{detail::read_field<std::int64_t>("class_balanced", of, field_name).values,
                     options} {}

std::uint64_t class_balanced::size(std::uint64_t samples) const {
  detail::require_samples("class_balanced", "labels", classes_->samples(), samples);
  return epoch_size_;
}

void class_balanced::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                             std::span<sample_index> out) const {
  (void)size(samples);
  std::array<detail::ranked, detail::max_ranked> at;
  std::uint64_t place = epoch * epoch_size_ + first.value;
  while (!out.empty()) {
    const auto block = std::span{at}.first(std::min(out.size(), at.size()));
    write_rounds(classes_->count(), seed_ ^ round_role, place, block);
    detail::write_by_part(
        block, out.first(block.size()),
        [&](std::uint64_t chosen, std::uint64_t rank, std::span<sample_index> run) {
          detail::write_passes(classes_->size(chosen),
                               detail::epoch_key(seed_ ^ class_role, chosen), rank, run);
          classes_->to_samples(chosen, run);
        });
    out = out.subspan(block.size());
    place += block.size();
  }
}

std::uint64_t class_balanced::classes() const noexcept {
  return classes_->count();
}

std::size_t class_balanced::table_bytes() const noexcept {
  return classes_->table_bytes();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
