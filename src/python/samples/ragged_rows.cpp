// Over 250 lines: one class, whose functions share how samples are divided into reads.

#include "python/samples/ragged_rows.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace feedline::python {
namespace {

/// Most bytes of padded samples that a thread reads at once, unless one sample has more.
constexpr std::size_t bytes_at_once = std::size_t{4} << 20;

/// NAME_offsets has one entry more than a row has samples.
constexpr std::uint64_t largest_capacity = std::numeric_limits<std::int32_t>::max() - 1;

void put_number(std::span<std::byte> out, std::uint64_t place, std::uint64_t value) noexcept {
  const auto number = static_cast<std::int32_t>(value);
  std::memcpy(out.data() + place * sizeof number, &number, sizeof number);
}

dataset_error about_sample(std::uint64_t sample, const std::string& name,
                           const std::string& words) {
  return {{.path = {}, .field = name, .sample = sample}, words};
}

}  // namespace

ragged_rows::ragged_rows(dataset_ptr padded, std::vector<ragged_column> columns,
                         const options& wanted)
    : padded_{std::move(padded)},
      columns_{std::move(columns)},
      wanted_{wanted},
      samples_{padded_->size()} {
  for (const ragged_column& each : columns_) {
    if (each.capacity == 0 || each.capacity > largest_capacity)
      throw usage_error{(wanted_.packs ? "pack: capacity of '" : "pad: length of '") + each.name +
                        "' is " + std::to_string(each.capacity) + ", and can be 1 to " +
                        std::to_string(largest_capacity)};
    if (each.lengths.size() != samples_)
      throw usage_error{"lengths of '" + each.name + "' has " +
                        std::to_string(each.lengths.size()) + " numbers for " +
                        std::to_string(samples_) + " samples"};
  }
  if (wanted_.max_samples > largest_capacity)
    throw usage_error{"pack: max_samples is " + std::to_string(wanted_.max_samples) +
                      ", and can be 1 to " + std::to_string(largest_capacity) + ", or 0"};
  add_parts();
  deal();
  (void)detail::checked_row_bytes(wanted_.packs ? "pack" : "pad", ragged_rows::fields());
}

void ragged_rows::add_parts() {
  const std::vector<field> all = padded_->fields();
  for (const field& each : all) row_bytes_.push_back(sample_bytes(each));
  for (std::size_t at = 0; at < all.size(); ++at) {
    part made{.spec = all[at], .at = at, .bytes = 0, .column = std::nullopt};
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].name == made.spec.name) made.column = i;
    if (made.column) {
      const std::uint64_t room = made.spec.shape.front();
      made.spec.shape.erase(made.spec.shape.begin());
      const auto& lengths = columns_[*made.column].lengths;
      if (const auto most = std::ranges::max_element(lengths); *most > room)
        throw usage_error{"sample " + std::to_string(most - lengths.begin()) + " has length " +
                          std::to_string(*most) + ", and is padded to " + std::to_string(room)};
      ++at;  // its lengths
    }
    made.bytes = sample_bytes(made.spec);
    parts_.push_back(std::move(made));
  }
  for (const ragged_column& each : columns_) {
    const auto found = std::ranges::find(
        parts_, each.name, [](const part& one) -> const std::string& { return one.spec.name; });
    if (found == parts_.end()) throw usage_error{"a sample has no '" + each.name + "'"};
    paddings_.emplace_back(wanted_.packs ? "pack" : "pad", found->spec, each.value);
  }
}

std::uint64_t ragged_rows::length(std::size_t column, std::uint64_t sample) const {
  return std::min(columns_[column].lengths[sample], columns_[column].capacity);
}

/// Next-fit: a sample goes into the row of the previous one if all its fields have room there.
void ragged_rows::deal() {
  std::vector<std::uint64_t> used(columns_.size());
  std::uint64_t count = 0;
  std::uint64_t fullest = 0;
  for (std::uint64_t i = 0; i < samples_; ++i) {
    bool fits = !starts_.empty() && (wanted_.max_samples == 0 || count < wanted_.max_samples);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const ragged_column& column = columns_[k];
      if (!wanted_.truncates && column.lengths[i] > column.capacity)
        throw about_sample(i, column.name,
                           "has " + std::to_string(column.lengths[i]) +
                               " elements, more than the " + std::to_string(column.capacity) +
                               (wanted_.packs ? " of capacity: raise it"
                                              : " of length: raise it, or say longer='truncate'"));
      fits = fits && length(k, i) <= column.capacity - used[k];
    }
    if (!wanted_.packs) continue;
    if (!fits) {
      starts_.push_back(i);
      std::ranges::fill(used, 0);
      count = 0;
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) used[k] += length(k, i);
    fullest = std::max(fullest, ++count);
  }
  max_samples_ =
      wanted_.max_samples != 0 ? wanted_.max_samples : std::max<std::uint64_t>(1, fullest);
}

std::vector<field> ragged_rows::fields() const {
  std::vector<field> all;
  for (const part& each : parts_) {
    if (!each.column) {
      all.push_back(wanted_.packs ? detail::field_of(each.spec, max_samples_) : each.spec);
      continue;
    }
    all.push_back(detail::field_of(each.spec, columns_[*each.column].capacity));
    if (wanted_.packs) {
      all.push_back({each.spec.name + "_count", element_type::i32, {}});
      all.push_back({each.spec.name + "_offsets", element_type::i32, {max_samples_ + 1}});
    } else {
      all.push_back({each.spec.name + "_length", element_type::i32, {}});
    }
  }
  return all;
}

std::vector<ragged_rows::placed> ragged_rows::placed_in(std::span<const sample_index> rows) const {
  std::vector<placed> all;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t number = rows[row].value;
    const std::uint64_t first = wanted_.packs ? starts_[number] : number;
    const std::uint64_t next = !wanted_.packs                ? number + 1
                               : number + 1 < starts_.size() ? starts_[number + 1]
                                                             : samples_;
    std::vector<std::uint64_t> begins(columns_.size());
    for (std::uint64_t sample = first; sample < next; ++sample) {
      all.push_back({sample_index{sample}, row, sample - first, begins});
      for (std::size_t k = 0; k < columns_.size(); ++k) begins[k] += length(k, sample);
    }
  }
  return all;
}

void ragged_rows::do_read(const read_request& request) const {
  detail::require_in_range(request.samples, size());
  const std::vector<placed> all = placed_in(request.samples);
  write_ends(request, all);
  std::size_t bytes = 0;
  for (const std::size_t each : row_bytes_) bytes += each;
  const std::size_t most = std::max<std::size_t>(bytes_at_once / bytes, 1);
  for (std::size_t first = 0; first < all.size(); first += most)
    read_piece(std::span{all}.subspan(first, std::min(most, all.size() - first)), request);
}

/// Counts, offsets and padding, which are known before the samples are.
void ragged_rows::write_ends(const read_request& request, std::span<const placed> all) const {
  std::size_t out = 0;
  for (const part& each : parts_) {
    if (!each.column) {
      const std::size_t bytes =
          request.out[out].size() / std::max<std::size_t>(request.samples.size(), 1);
      for (std::size_t i = 0; wanted_.packs && i < all.size(); ++i)
        if (i + 1 == all.size() || all[i + 1].row != all[i].row) {
          const auto row = request.out[out].subspan(all[i].row * bytes, bytes);
          const auto rest = row.subspan((all[i].place + 1) * each.bytes);
          std::memset(rest.data(), 0, rest.size());
        }
      ++out;
      continue;
    }
    const std::size_t k = *each.column;
    const std::size_t row_bytes = columns_[k].capacity * each.bytes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const placed& sample = all[i];
      const std::uint64_t end = sample.begins[k] + length(k, sample.sample.value);
      const bool is_last = i + 1 == all.size() || all[i + 1].row != sample.row;
      if (wanted_.packs) {
        const auto offsets =
            request.out[out + 2].subspan(sample.row * (max_samples_ + 1) * sizeof(std::int32_t),
                                         (max_samples_ + 1) * sizeof(std::int32_t));
        put_number(offsets, sample.place, sample.begins[k]);
        const std::uint64_t filled = is_last ? max_samples_ : sample.place + 1;
        for (std::uint64_t at = sample.place + 1; at <= filled; ++at) put_number(offsets, at, end);
      }
      if (!is_last) continue;
      put_number(request.out[out + 1], sample.row, wanted_.packs ? sample.place + 1 : end);
      paddings_[k].fill(
          request.out[out].subspan(sample.row * row_bytes, row_bytes).subspan(end * each.bytes));
    }
    out += wanted_.packs ? 3 : 2;
  }
}

void ragged_rows::read_piece(std::span<const placed> piece, const read_request& request) const {
  std::vector<sample_index> samples;
  for (const placed& each : piece) samples.push_back(each.sample);
  std::vector<std::vector<std::byte>> rows;
  std::vector<std::span<std::byte>> out;
  rows.reserve(row_bytes_.size());
  for (const std::size_t bytes : row_bytes_)
    out.emplace_back(rows.emplace_back(bytes * samples.size()));
  try {
    padded_->read({samples, out, read_context{samples}});
    for (std::size_t i = 0; i < piece.size(); ++i) write(piece[i], rows, i, request);
  } catch (const dataset_error& error) {
    std::optional<std::uint64_t> row;
    for (const placed& each : piece)
      if (error.sample() && each.sample.value == *error.sample() && !row)
        row = request.samples[each.row].value;
    if (!wanted_.packs) throw;
    detail::rethrow_as(error, row, "the samples that this packs");
  }
}

void ragged_rows::write(const placed& sample, std::span<const std::vector<std::byte>> rows,
                        std::size_t number, const read_request& request) const {
  std::size_t out = 0;
  for (const part& each : parts_) {
    const std::byte* const from = rows[each.at].data() + number * row_bytes_[each.at];
    if (!each.column) {
      const std::uint64_t place =
          wanted_.packs ? sample.row * max_samples_ + sample.place : sample.row;
      std::memcpy(request.out[out].data() + place * each.bytes, from, each.bytes);
      ++out;
      continue;
    }
    const ragged_column& column = columns_[*each.column];
    const std::uint64_t wanted = column.lengths[sample.sample.value];
    std::int32_t found = 0;
    std::memcpy(&found, rows[each.at + 1].data() + number * sizeof found, sizeof found);
    if (static_cast<std::uint64_t>(found) != wanted)
      throw about_sample(sample.sample.value, column.name,
                         "has " + std::to_string(found) + " elements, and lengths says " +
                             std::to_string(wanted) +
                             ": lengths must be those of the samples, which never change");
    const std::uint64_t to = sample.row * column.capacity + sample.begins[*each.column];
    if (const std::uint64_t count = length(*each.column, sample.sample.value); count != 0)
      std::memcpy(request.out[out].data() + to * each.bytes, from, count * each.bytes);
    out += wanted_.packs ? 3 : 2;
  }
}

}  // namespace feedline::python
