#pragma once

#include <feedline/error.hpp>

#include "formats/tfrecord/example.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The smallest and the largest of some numbers.
struct number_bounds {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;

  void add(std::uint64_t value) noexcept {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  [[nodiscard]] bool is_one() const noexcept { return least == most && most != 0; }
};

/// A feature as the records have it.
struct seen_feature {
  std::string name;
  bool is_sequence = false;
  feature_kind kind = feature_kind::none;
  std::string trouble = {};             ///< why it cannot be a field
  std::size_t records = 0;              ///< number of records with it
  number_bounds values = {};            ///< number of values in a record, or in a step
  number_bounds bytes = {};             ///< size of a value of bytes
  bool is_image = true;                 ///< each value of bytes is one
  std::vector<std::byte> example = {};  ///< the first value of bytes
};

/// Collects what records have.
class feature_census {
 public:
  void add(std::span<const std::byte> record) {
    for_each_feature(record, [&](const named_feature& found) {
      seen_feature& one = find(found);
      ++one.records;
      if (!found.is_sequence) return add_values(one, read_feature(found.message));
      for_each_step(found.message, [&](const feature_view& step) { add_values(one, step); });
    });
  }

  [[nodiscard]] std::vector<seen_feature>& all() noexcept { return all_; }

 private:
  static constexpr std::size_t max_features = 4096;

  seen_feature& find(const named_feature& found) {
    const auto [at, is_new] =
        places_.try_emplace({found.is_sequence, std::string{found.name}}, all_.size());
    if (is_new) {
      if (all_.size() == max_features)
        throw dataset_error{{},
                            "records have more than " + std::to_string(max_features) +
                                " features; write values of one kind as one feature of many "
                                "values"};
      all_.push_back({std::string{found.name}, found.is_sequence});
    }
    return all_[at->second];
  }

  static void add_values(seen_feature& to, const feature_view& values) {
    if (values.kind == feature_kind::none) return to.values.add(0);
    if (to.kind == feature_kind::none) to.kind = values.kind;
    if (to.kind != values.kind) {
      to.trouble = "has values of " + std::string{name_of(to.kind)} + " and of " +
                   std::string{name_of(values.kind)};
      return;
    }
    const std::uint64_t count = count_values(values);
    to.values.add(count);
    if (values.kind != feature_kind::bytes || count == 0) return;
    const std::span<const std::byte> value = first_bytes(values);
    if (to.example.empty()) to.example.assign(value.begin(), value.end());
    to.bytes.add(value.size());
    to.is_image = to.is_image && (is_jpeg(value) || is_png(value));
  }

  std::vector<seen_feature> all_;
  std::map<std::pair<bool, std::string>, std::size_t> places_;
};

}  // namespace feedline::detail
