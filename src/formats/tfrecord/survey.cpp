#include "formats/tfrecord/survey.hpp"

#include "detail/text.hpp"
#include "formats/tfrecord/feature_census.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

element_type type_of(feature_kind kind) {
  if (kind == feature_kind::floats) return element_type::f32;
  return kind == feature_kind::bytes ? element_type::u8 : element_type::i64;
}

/// Chooses the field that a feature becomes.
class field_choice {
 public:
  field_choice(std::string_view who, const tfrecord_options& options, std::size_t looked_at)
      : who_{who}, options_{options}, looked_at_{looked_at} {}

  /// @return Why it is no field; empty: `made` is one.
  [[nodiscard]] std::string choose(const seen_feature& of, example_field& made) const {
    const auto given = options_.features.find(of.name);
    const bool is_given = given != options_.features.end();
    if (!of.trouble.empty()) return of.trouble;
    if (of.kind == feature_kind::none)
      return "has no value in the " + std::to_string(looked_at_) +
             " records that were looked at, so its type is not known";
    made.kind = of.kind;
    made.as.spec.type = type_of(of.kind);
    if (is_given) require_one_way(of, given->second);
    if (of.is_sequence) return choose_steps(of, is_given ? &given->second : nullptr, made);
    if (is_given && given->second.decoder) return decode(of, given->second.decoder, made);
    if (is_given && given->second.shape) {
      made.as.spec.shape = *given->second.shape;
      return {};
    }
    if (of.kind == feature_kind::bytes) return choose_bytes(of, is_given, made);
    made.as.is_ragged = is_given || !of.values.is_one() || of.records < looked_at_;
    if (!made.as.is_ragged && of.values.most != 1) made.as.spec.shape = {of.values.most};
    return {};
  }

 private:
  void require_one_way(const seen_feature& of, const tfrecord_feature& how) const {
    const int ways = int{how.decoder != nullptr} + int{how.shape.has_value()} + int{how.is_ragged};
    const std::string begin =
        std::string{who_} + ": tfrecord_options::features names '" + of.name + "'";
    if (ways != 1)
      throw usage_error{begin + " with " + (ways == 0 ? "no" : "more than one") +
                        " way to read it: say one of decoder, shape and is_ragged"};
    if (how.decoder && of.kind != feature_kind::bytes)
      throw usage_error{begin + " with a decoder, but its values are " +
                        std::string{name_of(of.kind)} + ", not bytes"};
  }

  static std::string several_bytes() {
    return "has several values of bytes in a record; write each as a feature of its own, or read "
           "the records with a record_decoder of your own (tfrecord_options::record)";
  }

  static std::string decode(const seen_feature& of, const decoder_ptr& by, example_field& made) {
    if (of.values.most > 1) return several_bytes();
    if (of.example.empty()) return "has only empty values, which cannot be decoded";
    made.by = by;
    made.as.spec = by->describe(of.example);
    return {};
  }

  [[nodiscard]] std::string choose_bytes(const seen_feature& of, bool is_ragged,
                                         example_field& made) const {
    if (of.values.most > 1) return several_bytes();
    if (!is_ragged && options_.image && of.is_image && !of.example.empty())
      return decode(of, options_.image, made);
    const bool all_have = of.records == looked_at_ && of.values.least == 1;
    made.as.is_ragged = is_ragged || !all_have || !of.bytes.is_one();
    if (!made.as.is_ragged) made.as.spec.shape = {of.bytes.most};
    return {};
  }

  /// A list of steps is ragged over them.
  [[nodiscard]] std::string choose_steps(const seen_feature& of, const tfrecord_feature* how,
                                         example_field& made) const {
    made.as.is_ragged = true;
    if (how != nullptr && how->shape) {
      made.as.spec.shape = *how->shape;
      return {};
    }
    if (of.kind != feature_kind::bytes) {
      if (!of.values.is_one())
        return "has steps of " + std::to_string(of.values.least) + " to " +
               std::to_string(of.values.most) + " values; steps of a field have the same number";
      if (of.values.most != 1) made.as.spec.shape = {of.values.most};
      return {};
    }
    if (of.values.most > 1) return several_bytes();
    const decoder_ptr by = how != nullptr && how->decoder ? how->decoder
                           : of.is_image                  ? options_.image
                                                          : nullptr;
    if (by) return decode(of, by, made);
    if (!of.bytes.is_one())
      return "has steps of " + std::to_string(of.bytes.least) + " to " +
             std::to_string(of.bytes.most) + " bytes; steps of a field have the same number";
    made.as.spec.shape = {of.bytes.most};
    return {};
  }

  std::string_view who_;
  const tfrecord_options& options_;
  std::size_t looked_at_;
};

void look_at(const coded_values& records, std::uint64_t record, std::vector<std::byte>& memory,
             feature_census& census) {
  const auto stored =
      records.read(record, [&](std::size_t bytes) { return room_in(memory, bytes); });
  try {
    census.add(stored);
  } catch (const dataset_error& fault) {
    records.refuse(fault, record);
  }
}

/// @throws usage_error if features are named that no record has.
void require_seen(std::string_view who, const tfrecord_options& options,
                  const std::vector<seen_feature>& seen, std::size_t looked_at) {
  std::vector<std::string> names;
  for (const seen_feature& each : seen) names.push_back(each.name);
  for (const auto& [name, how] : options.features)
    if (std::ranges::count(names, name) == 0)
      throw usage_error{std::string{who} + ": tfrecord_options::features names '" + name +
                        "', which none of the " + std::to_string(looked_at) +
                        " records that were looked at has; they have " + list_names(names)};
}

}  // namespace

example_survey survey_examples(std::string_view who, const coded_values& records,
                               const tfrecord_options& options) {
  const std::uint64_t wanted = std::max<std::uint64_t>(1, options.looked_at);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, records.size()));
  feature_census census;
  std::vector<std::byte> memory;
  for (std::size_t i = 0; i < count; ++i)
    look_at(records, records.size() / count * i + records.size() % count * i / count, memory,
            census);
  require_seen(who, options, census.all(), count);
  std::set<std::string> names;
  for (const seen_feature& each : census.all())
    if (!each.is_sequence) names.insert(each.name);
  example_survey found;
  found.looked_at = count;
  for (const seen_feature& each : census.all()) {
    example_field made{.feature = each.name, .is_sequence = each.is_sequence};
    const bool is_twice = each.is_sequence && names.contains(each.name);
    const std::string name = is_twice ? "feature_lists/" + each.name : each.name;
    std::string reason;
    try {
      reason = field_choice{who, options, count}.choose(each, made);
    } catch (const dataset_error& fault) {
      records.refuse({{.path = {}, .field = name}, fault.message()}, 0);
    }
    made.as.spec.name = name;
    if (reason.empty())
      found.fields.push_back(std::move(made));
    else
      found.left_out.push_back({name, std::move(reason)});
  }
  if (!found.fields.empty()) return found;
  const std::string why = reasons_of(found.left_out);
  records.refuse({{},
                  "is no tf.train.Example with a feature that can be a field" +
                      (why.empty() ? "; give tfrecord_options::record, which decodes it" : why)},
                 0);
  __builtin_unreachable();  // g++ 12 loses that a virtual function does not return
}

}  // namespace feedline::detail
