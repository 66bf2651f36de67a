#include "sampler/mixture/mixture_tables.hpp"

#include <feedline/detail/splitmix64.hpp>
#include <feedline/error.hpp>

#include "detail/known_value.hpp"
#include "detail/text.hpp"
#include "sampler/mixture/apportionment.hpp"
#include "sampler/mixture/part_order.hpp"
#include "sampler/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace feedline::detail {
namespace {

std::string point_name(std::size_t point) {
  return "scheduled_mixture: point " + std::to_string(point);
}

/// The position of each point.
std::vector<std::uint64_t> places_of(const std::vector<mixture_point>& points, mixture_unit unit,
                                     std::uint64_t epoch_size) {
  if (points.empty())
    throw usage_error{"scheduled_mixture: there are no points; give it one at 0, or more"};
  std::vector<std::uint64_t> places;
  for (const mixture_point& point : points) {
    const std::string name = point_name(places.size()) + " is at " + text_of(point.at);
    const bool in_epochs = unit == mixture_unit::epochs;
    const double place =
        in_epochs ? std::round(point.at * static_cast<double>(epoch_size)) : point.at;
    if (!(place >= 0 && place <= 0x1p53))
      throw usage_error{name + (in_epochs ? " epochs" : " positions") +
                        "; say a moment from 0 to 2^53 positions"};
    if (place != std::floor(place))
      throw usage_error{name + "; say a whole position, or use mixture_unit::epochs"};
    const auto whole = static_cast<std::uint64_t>(place);
    if (places.empty() && whole != 0)
      throw usage_error{name + "; the first point is at 0, so that epoch 0 begins with weights"};
    if (!places.empty() && whole <= places.back())
      throw usage_error{name + ", which is position " + std::to_string(whole) +
                        ", but the point before it is at position " +
                        std::to_string(places.back()) +
                        "; give points in ascending order, one a position"};
    places.push_back(whole);
  }
  return places;
}

std::vector<std::vector<std::uint64_t>> weights_of(const std::vector<mixture_point>& points,
                                                   const std::vector<std::uint64_t>& sizes) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const mixture_point& point : points) {
    const std::string name = point_name(all.size());
    if (point.weights.size() != sizes.size())
      throw usage_error{name + " has " + std::to_string(point.weights.size()) +
                        " weights, and there are " + std::to_string(sizes.size()) +
                        " parts; give one for each part"};
    all.push_back(
        largest_remainders(integer_weights(name.c_str(), point.weights), apportionment::whole));
    for (std::size_t part = 0; part < sizes.size(); ++part)
      if (point.weights[part] > 0 && sizes[part] == 0)
        throw usage_error{name + ": part " + std::to_string(part) + " has no samples, but weight " +
                          text_of(point.weights[part]) + "; give it weight 0, or leave it out"};
  }
  return all;
}

void add_to(std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& sums) {
  for (std::size_t part = 0; part < counts.size(); ++part)
    counts[part] += sums[part + 1] - sums[part];
}

}  // namespace

ranked mixture_stretch::at(u128 offset) const noexcept {
  if (length == 0) {
    const std::uint64_t period = starting.back();
    const auto turn = static_cast<std::uint64_t>(offset / period);
    ranked found = locate(starting, static_cast<std::uint64_t>(offset % period));
    found.rank += before[found.part] + turn * (starting[found.part + 1] - starting[found.part]);
    return found;
  }
  const auto place = static_cast<std::uint64_t>(offset);
  const std::uint64_t ends = of_end(place);
  const bool at_end = of_end(place + 1) != ends;
  ranked found = at_end ? locate(ending, ends) : locate(starting, place - ends);
  if (at_end)
    found.rank += count_before(starting, found.part, place - ends);
  else if (!ending.empty())
    found.rank += count_before(ending, found.part, ends);
  found.rank += before[found.part];
  return found;
}

std::uint64_t mixture_stretch::count(std::uint64_t part, u128 offset) const noexcept {
  if (length == 0) {
    const std::uint64_t period = starting.back();
    return before[part] +
           static_cast<std::uint64_t>(offset / period) * (starting[part + 1] - starting[part]) +
           count_before(starting, part, static_cast<std::uint64_t>(offset % period));
  }
  const auto place = static_cast<std::uint64_t>(offset);
  const std::uint64_t ends = of_end(place);
  return before[part] + count_before(starting, part, place - ends) +
         (ending.empty() ? 0 : count_before(ending, part, ends));
}

mixture_tables::mixture_tables(const std::vector<std::uint64_t>& sizes,
                               const std::vector<mixture_point>& points,
                               const scheduled_mixture_options& options)
    : seed{options.seed}, change{options.change}, starts{sums_of("scheduled_mixture", sizes)} {
  require_known("scheduled_mixture_options::unit", options.unit, {"positions", "epochs"});
  require_known("scheduled_mixture_options::change", change, {"linear", "steps"});
  if (sizes.empty())
    throw usage_error{"scheduled_mixture: there are no parts; give it one or more"};
  epoch_size = options.epoch_size != 0 ? options.epoch_size : starts.back();
  const auto places = places_of(points, options.unit, epoch_size);
  weights = weights_of(points, sizes);

  apportionment shares{sizes.size()};
  std::vector<std::uint64_t> so_far(sizes.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    mixture_stretch one{.begin = places[i], .before = so_far};
    if (i + 1 == places.size()) {
      one.starting = sums_of("scheduled_mixture", largest_remainders(weights[i], epoch_size));
    } else {
      one.length = places[i + 1] - places[i];
      const bool changes = change == mixture_change::linear && weights[i + 1] != weights[i];
      const std::uint64_t ends = changes ? one.length / 2 : 0;
      one.starting = sums_of("scheduled_mixture", shares.next(weights[i], one.length - ends));
      if (changes) one.ending = sums_of("scheduled_mixture", shares.next(weights[i + 1], ends));
    }
    add_to(so_far, one.starting);
    if (!one.ending.empty()) add_to(so_far, one.ending);
    stretches.push_back(std::move(one));
  }
  for (std::size_t part = 0; part < sizes.size(); ++part)
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double weight = points[i].weights[part];
      const auto& last = stretches.back().starting;
      const bool never = so_far[part] == 0;
      const bool not_at_end = i + 1 == points.size() && last[part + 1] == last[part];
      if (weight > 0 && (never || not_at_end))
        throw usage_error{point_name(i) + ": part " + std::to_string(part) + " has weight " +
                          text_of(weight) + ", which is less than one position in " +
                          (never ? "the whole schedule" : "an epoch of ") +
                          (never ? "" : std::to_string(epoch_size)) +
                          "; make the weight or the epoch larger "
                          "(scheduled_mixture_options::epoch_size), or give it weight 0"};
    }

  const auto add = [&](std::uint64_t value) {
    identity = mix(identity + golden_gamma + mix(value));
  };
  add(seed);
  add(epoch_size);
  add(static_cast<std::uint64_t>(change));
  for (const std::uint64_t start : starts) add(start);
  for (std::size_t i = 0; i < places.size(); ++i) {
    add(places[i]);
    for (const std::uint64_t weight : weights[i]) add(weight);
  }
}

const mixture_stretch& mixture_tables::stretch_at(u128 place) const noexcept {
  return *std::prev(std::upper_bound(
      stretches.begin(), stretches.end(), place,
      [](u128 sought, const mixture_stretch& each) { return sought < each.begin; }));
}

}  // namespace feedline::detail
