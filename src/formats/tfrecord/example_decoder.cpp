#include "formats/tfrecord/example_decoder.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

dataset_error fault_of(const example_field& of, const std::string& message) {
  return {{.path = {}, .field = of.as.spec.name}, message};
}

constexpr const char* way_out =
    "; the records that were looked at differ: say in tfrecord_options::features what all have";

void require_kind(const example_field& of, const feature_view& found) {
  if (found.kind != of.kind)
    throw fault_of(of, "has " + std::string{name_of(found.kind)} + ", not " +
                           std::string{name_of(of.kind)} + way_out);
}

/// The only value of a feature of bytes.
byte_span only_bytes(const example_field& of, const feature_view& found) {
  const std::uint64_t count = count_values(found);
  if (count != 1) throw fault_of(of, "has " + std::to_string(count) + " values of bytes, not one");
  return first_bytes(found);
}

void decode_value(const example_field& of, byte_span value, std::span<std::byte> out,
                  const sample_context& context) try {
  of.by->decode(value, of.as.spec, out, context);
} catch (const dataset_error& fault) {
  throw fault_of(of, fault.message());
}

/// Writes a value of fixed size: that of a record, or that of a step.
void write_fixed(const example_field& of, const feature_view& found, std::span<std::byte> out,
                 const sample_context& context) {
  require_kind(of, found);
  if (of.kind == feature_kind::bytes) {
    const byte_span value = only_bytes(of, found);
    if (of.by) return decode_value(of, value, out, context);
    if (value.size() != out.size())
      throw fault_of(of, "has " + std::to_string(value.size()) + " bytes, but " +
                             to_string(of.as.spec) + " takes " + std::to_string(out.size()) +
                             way_out);
    std::ranges::copy(value, out.begin());
    return;
  }
  const std::uint64_t count = count_values(found);
  const std::size_t expected = out.size() / size_bytes(of.as.spec.type);
  if (count != expected)
    throw fault_of(of, "has " + std::to_string(count) + " values, but " + to_string(of.as.spec) +
                           " takes " + std::to_string(expected) + way_out);
  write_values(found, out);
}

class example_decoder final : public record_decoder {
 public:
  explicit example_decoder(std::vector<example_field> fields) : fields_{std::move(fields)} {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      places_[int{fields_[i].is_sequence}].emplace(fields_[i].feature, i);
  }

  std::vector<described_field> describe(byte_span) const override {
    std::vector<described_field> described;
    for (const example_field& each : fields_) described.push_back(each.as);
    return described;
  }

  void decode(byte_span stored, record_output& out, const sample_context& context) const override {
    for (std::size_t i = 0; i < fields_.size(); ++i)  // a record may lack them
      if (fields_[i].as.is_ragged && out.wants(i)) (void)out.ragged(i, 0);
    for_each_feature(stored, [&](const named_feature& found) {
      const auto& places = places_[int{found.is_sequence}];
      const auto at = places.find(found.name);
      if (at == places.end() || !out.wants(at->second)) return;
      const example_field& of = fields_[at->second];
      if (found.is_sequence) return decode_steps(of, found.message, out, at->second, context);
      const feature_view values = read_feature(found.message);
      if (of.as.is_ragged)
        decode_ragged(of, values, out, at->second);
      else if (values.kind != feature_kind::none)
        write_fixed(of, values, out.fixed(at->second), context);
    });
  }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(
        fields_, [](const example_field& each) { return each.by && each.by->varies_by_epoch(); });
  }

  decoder_ptr coded_by(std::size_t field) const override {
    return fields_[field].is_sequence ? nullptr : fields_[field].by;
  }

  byte_span coded_value(byte_span stored, std::size_t field) const override {
    const example_field& of = fields_[field];
    feature_view last;
    for_each_feature(stored, [&](const named_feature& found) {
      if (!found.is_sequence && found.name == of.feature) last = read_feature(found.message);
    });
    if (last.kind == feature_kind::none)
      throw fault_of(of, "the record has no value of this field");
    require_kind(of, last);
    return only_bytes(of, last);
  }

 private:
  /// The values of a feature. If these are bytes: those of its one value.
  static void decode_ragged(const example_field& of, const feature_view& found, record_output& out,
                            std::size_t place) {
    if (found.kind == feature_kind::none) return;
    require_kind(of, found);
    const std::uint64_t count = count_values(found);
    if (of.kind != feature_kind::bytes) return write_values(found, out.ragged(place, count));
    if (count == 0) return;
    const byte_span value = only_bytes(of, found);
    const auto to = out.ragged(place, value.size());
    std::ranges::copy(value.first(to.size()), to.begin());
  }

  static void decode_steps(const example_field& of, byte_span list, record_output& out,
                           std::size_t place, const sample_context& context) {
    std::uint64_t steps = 0;
    for_each_step(list, [&](const feature_view&) { ++steps; });
    auto to = out.ragged(place, steps);
    const std::size_t bytes = sample_bytes(of.as.spec);
    for_each_step(list, [&](const feature_view& step) {
      if (to.size() < bytes) return;
      write_fixed(of, step, to.first(bytes), context);
      to = to.subspan(bytes);
    });
  }

  std::vector<example_field> fields_;
  std::map<std::string, std::size_t, std::less<>> places_[2];  // NOLINT: features, and lists
};

}  // namespace

record_decoder_ptr make_example_decoder(std::vector<example_field> fields) {
  return std::make_shared<const example_decoder>(std::move(fields));
}

}  // namespace feedline::detail
