#include "ragged/record_columns.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/known_value.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// A decoder of one field, as one of records with this field.
class one_field_decoder final : public record_decoder {
 public:
  one_field_decoder(decoder_ptr by, field as) : by_{std::move(by)}, as_{std::move(as)} {}

  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return {{as_}};
  }
  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context& context) const override {
    by_->decode(stored, as_, out.fixed(0), context);
  }
  bool varies_by_epoch() const override { return by_->varies_by_epoch(); }

 private:
  decoder_ptr by_;
  field as_;
};

}  // namespace

std::vector<field> checked_specs(std::string_view who, const std::vector<described_field>& all) {
  std::vector<field> specs;
  for (const described_field& each : all) specs.push_back(each.spec);
  (void)checked_row_bytes(who, specs);
  return specs;
}

record_columns::record_columns(decoder_ptr by, field as)
    : by_{std::make_shared<const one_field_decoder>(by, as)},
      one_field_{std::move(by)},
      all_{std::make_shared<const std::vector<described_field>>(
          std::vector<described_field>{{as, false}})},
      columns_(1) {
  const std::size_t bytes = sample_bytes(as);
  targets_.push_back({.spec = std::move(as), .bytes = bytes});
}

record_columns::record_columns(std::string_view who, record_decoder_ptr by,
                               std::vector<described_field> all, const decode_options& options,
                               const coded_values& of)
    : by_{std::move(by)}, columns_(all.size()) {
  const std::vector<field> specs = checked_specs(who, all);
  for (const described_field& each : all)
    if (each.is_ragged && each.spec.by_batch)
      throw usage_error{std::string{who} + ": field '" + each.spec.name +
                        "' has several images a sample, whose size differs from batch to batch "
                        "(field::by_batch), which is possible for one image a sample: decode them "
                        "to one size"};
  all_ = std::make_shared<const std::vector<described_field>>(std::move(all));
  const std::string name{who};
  std::vector<std::string> names = options.fields;
  if (names.empty())
    for (const field& each : specs) names.push_back(each.name);
  const std::vector<std::size_t> chosen = places_of(name.c_str(), specs, names);
  for (const auto& [padded, how] : options.pad) {
    require_known("pad_options::longer", how.longer, {"error", "truncate"});
    if (!(*all_)[places_of(name.c_str(), specs, {padded}).front()].is_ragged)
      throw usage_error{name + ": decode_options::pad names '" + padded +
                        "', whose values are all of one size; leave it out"};
  }
  const std::vector<std::uint64_t> lengths = lengths_of(who, chosen, options, of);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const described_field& each = (*all_)[chosen[i]];
    if (!each.is_ragged) {
      targets_.push_back({.spec = each.spec, .column = chosen[i]});
      continue;
    }
    const auto given = options.pad.find(each.spec.name);
    const pad_options how = given == options.pad.end() ? pad_options{} : given->second;
    column& one = columns_[chosen[i]];
    one.room.limit = checked_length(name + ": field '" + each.spec.name + "'", lengths[i]);
    one.room.truncates = how.longer == pad_longer::truncate;
    one.fill.emplace(who, each.spec, how.value);
    targets_.push_back({.spec = field_of(each.spec, one.room.limit), .column = chosen[i]});
    targets_.push_back({.spec = {each.spec.name + "_length", element_type::i32, {}},
                        .column = chosen[i],
                        .is_length = true});
  }
  const std::vector<std::size_t> bytes = checked_row_bytes(who, fields());
  for (std::size_t i = 0; i < targets_.size(); ++i) targets_[i].bytes = bytes[i];
}

/// The option for each chosen field, or the longest sample; meaningless for fixed fields.
std::vector<std::uint64_t> record_columns::lengths_of(std::string_view who,
                                                      std::span<const std::size_t> chosen,
                                                      const decode_options& options,
                                                      const coded_values& of) const {
  std::vector<std::uint64_t> lengths(chosen.size());
  std::vector<std::size_t> unknown;  // indices into `lengths`,
  std::vector<std::size_t> fields;   // and their fields
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!(*all_)[chosen[i]].is_ragged) continue;
    const std::string& name = (*all_)[chosen[i]].spec.name;
    const auto given = options.pad.find(name);
    if (given != options.pad.end()) lengths[i] = given->second.length;
    if (lengths[i] != 0) continue;
    if (by_->varies_by_epoch())
      throw usage_error{std::string{who} + ": the longest sample of field '" + name +
                        "' is not known, because the decoder varies by epoch; give "
                        "pad_options::length"};
    unknown.push_back(i);
    fields.push_back(chosen[i]);
  }
  if (fields.empty()) return lengths;
  count_elements(of, *by_, all_, fields, [&](std::uint64_t, std::span<const std::uint64_t> counts) {
    for (std::size_t k = 0; k < counts.size(); ++k) {
      std::uint64_t& longest = lengths[unknown[k % unknown.size()]];
      longest = std::max(longest, counts[k]);
    }
  });
  return lengths;
}

std::vector<field> record_columns::fields() const {
  std::vector<field> fields;
  for (const target& each : targets_) fields.push_back(each.spec);
  return fields;
}

std::optional<std::size_t> record_columns::coded_column(std::size_t place) const {
  const target& of = targets_[place];
  if (of.is_length || (*all_)[of.column].is_ragged) return std::nullopt;
  const decoder_ptr by = by_->coded_by(of.column);
  if (!by || by->steps().empty()) return std::nullopt;
  return of.column;
}

batch_sizes_ptr record_columns::sizes() const {
  if (one_field_) return one_field_->sizes();
  std::vector<batch_sizes_ptr> all;
  for (const target& each : targets_) {
    if (!each.spec.by_batch) continue;
    const decoder_ptr by = by_->coded_by(each.column);
    all.push_back(by ? by->sizes() : nullptr);
  }
  return common_sizes("records", all);
}

record_columns record_columns::select(std::span<const std::size_t> places) const {
  record_columns some = *this;
  some.targets_.clear();
  for (const std::size_t place : places) some.targets_.push_back(targets_[place]);
  return some;
}

std::unique_ptr<record_row> record_columns::make_row() const {
  auto row = std::make_unique<record_row>(all_);
  for (const target& each : targets_) {
    record_row::room& room = row->rooms[each.column];
    const std::size_t element_bytes = room.element_bytes;
    room = columns_[each.column].room;
    room.element_bytes = element_bytes;
    room.is_wanted = true;
  }
  return row;
}

void record_columns::decode(std::span<const std::byte> stored,
                            std::span<const std::span<std::byte>> out, std::size_t place,
                            const sample_context& context, record_row& row) const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const target& to = targets_[i];
    if (to.is_length) continue;
    const std::size_t bytes = to.spec.by_batch ? sample_bytes(to.spec, context.size) : to.bytes;
    row.rooms[to.column].memory = out[i].subspan(place * bytes, bytes);
  }
  row.decode(*by_, stored, context);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const target& to = targets_[i];
    const record_row::room& room = row.rooms[to.column];
    if (to.is_length) {
      const auto told = static_cast<std::int32_t>(room.count);
      std::memcpy(out[i].data() + place * sizeof told, &told, sizeof told);
    } else if (columns_[to.column].fill) {
      columns_[to.column].fill->fill(room.memory.subspan(room.count * room.element_bytes));
    }
  }
}

void count_elements(const coded_values& of, const record_decoder& by, const described_fields& all,
                    std::span<const std::size_t> fields,
                    const std::function<void(std::uint64_t, std::span<const std::uint64_t>)>& use) {
  constexpr std::uint64_t piece_samples = 256;
  std::mutex using_counts;
  const auto count_piece = [&](std::size_t piece) {
    const std::uint64_t first = piece * piece_samples;
    const std::uint64_t end = std::min(of.size(), first + piece_samples);
    std::vector<std::byte> memory;
    std::vector<std::uint64_t> counts;
    record_row row{all};
    for (const std::size_t field : fields) row.want_all(field);
    for (std::uint64_t sample = first; sample < end; ++sample) {
      const auto stored =
          of.read(sample, [&](std::size_t bytes) { return room_in(memory, bytes); });
      const sample_index index{sample};
      try {
        row.decode(by, stored, read_context{{&index, 1}}[0]);
      } catch (const dataset_error& fault) {
        of.refuse(fault, sample);
      }
      for (const std::size_t field : fields) counts.push_back(row.rooms[field].count);
    }
    const std::lock_guard lock{using_counts};
    use(first, counts);
  };
  parallel_for(static_cast<std::size_t>((of.size() + piece_samples - 1) / piece_samples),
               count_piece);
}

}  // namespace feedline::detail
