#include "arrays/coordinates.hpp"

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace feedline::detail {

const std::vector<double>& stored_coordinates::values() const {
  std::call_once(once_, [&] {
    try {
      values_ = read_();
    } catch (const std::exception& failure) {
      log()->warn("coordinates {} cannot be read, so that arrays are not compared by them: {}",
                  printable(where_), printable(failure.what()));
    }
  });
  return values_;
}

axis_coordinates::axis_coordinates(std::shared_ptr<const stored_coordinates> of,
                                   std::uint64_t count) {
  runs_.push_back({std::move(of), count});
}

std::uint64_t axis_coordinates::size() const noexcept {
  std::uint64_t size = 0;
  for (const run& each : runs_) size += each.count;
  return size;
}

std::shared_ptr<const axis_coordinates> axis_coordinates::choose(
    std::span<const std::uint64_t> indices) const {
  std::shared_ptr<axis_coordinates> chosen{new axis_coordinates};
  for (std::uint64_t index : indices) {
    auto from = runs_.begin();
    for (; index >= from->count; ++from) index -= from->count;
    if (chosen->runs_.empty() || chosen->runs_.back().of != from->of)
      chosen->runs_.push_back({from->of, 0});
    chosen->runs_.back().indices.push_back(from->index(index));
    ++chosen->runs_.back().count;
  }
  return chosen;
}

std::shared_ptr<const axis_coordinates> axis_coordinates::join(
    std::span<const std::shared_ptr<const axis_coordinates>> parts) {
  std::shared_ptr<axis_coordinates> joined{new axis_coordinates};
  for (const auto& part : parts) {
    if (!part) return nullptr;
    joined->runs_.insert(joined->runs_.end(), part->runs_.begin(), part->runs_.end());
  }
  return joined;
}

std::vector<axis_coordinates::element> axis_coordinates::elements() const {
  std::vector<element> all;
  for (const run& each : runs_) {
    const std::vector<double>& values = each.of->values();
    for (std::uint64_t i = 0; i < each.count; ++i) {
      const std::uint64_t index = each.index(i);
      if (index >= values.size()) return {};
      all.push_back({values[static_cast<std::size_t>(index)], each.of.get()});
    }
  }
  return all;
}

std::string axis_coordinates::difference(const axis_coordinates& other) const {
  constexpr std::uint64_t most = std::uint64_t{4} << 20;
  if (runs_ == other.runs_ || size() != other.size() || size() > most) return {};
  const std::vector<element> own = elements();
  const std::vector<element> others = other.elements();
  if (own.size() != others.size()) return {};
  double step = 0;
  for (std::size_t i = 1; i < own.size(); ++i) {
    const double between = std::abs(own[i].value - own[i - 1].value);
    if (between > 0 && (step == 0 || between < step)) step = between;
  }
  const auto in_words = [](const element& of) {
    return text_of(of.value) + (of.of->units().empty() ? "" : " " + of.of->units()) + " in " +
           of.of->where();
  };
  for (std::size_t i = 0; i < own.size(); ++i) {
    const element& a = own[i];
    const element& b = others[i];
    const double allowed = step != 0 ? step / 1000 : std::abs(a.value) / 1e6;
    const bool are_equal = std::abs(a.value - b.value) <= allowed || a.value == b.value ||
                           (std::isnan(a.value) && std::isnan(b.value));
    const bool have_units = !a.of->units().empty() && !b.of->units().empty();
    if (!are_equal || (have_units && a.of->units() != b.of->units()))
      return "element " + std::to_string(i) + " is at " + in_words(a) + ", and at " + in_words(b);
  }
  return {};
}

std::string coordinate_difference(const array_spec& a, std::size_t axis_of_a, const array_spec& b,
                                  std::size_t axis_of_b) {
  if (a.coordinates.empty() || b.coordinates.empty()) return {};
  const auto& own = a.coordinates[axis_of_a];
  const auto& other = b.coordinates[axis_of_b];
  return own && other && own != other ? own->difference(*other) : "";
}

array_axis axis_at(const array_spec& spec, std::size_t number) {
  if (number < spec.dimensions.size() && !spec.dimensions[number].empty())
    return spec.dimensions[number];
  return static_cast<std::int64_t>(number);
}

}  // namespace feedline::detail
