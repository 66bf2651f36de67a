#include <feedline/error.hpp>
#include <feedline/ragged/pack.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "detail/arithmetic.hpp"
#include "detail/known_value.hpp"
#include "detail/sample_range.hpp"
#include "ragged/padding.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// NAME_offsets has one entry more than a row has samples.
constexpr std::uint64_t largest = std::numeric_limits<std::int32_t>::max() - 1;

std::uint64_t checked(std::uint64_t value, const char* name) {
  if (value > largest)
    throw usage_error{std::string{"pack_options::"} + name + " is " + std::to_string(value) +
                      ", more than an int32 can count to; at most " + std::to_string(largest)};
  return value;
}

void put(std::span<std::byte> out, std::uint64_t place, std::uint64_t value) noexcept {
  const auto number = static_cast<std::int32_t>(value);
  std::memcpy(out.data() + place * sizeof number, &number, sizeof number);
}

class packed_rows final : public packed_dataset {
 public:
  packed_rows(ragged_dataset_ptr of, const pack_options& options)
      : of_{std::move(of)},
        element_{of_->element()},
        element_bytes_{sample_bytes(element_)},
        capacity_{checked(options.capacity, "capacity")},
        padding_{"pack", element_, options.value} {
    if (capacity_ == 0)
      throw usage_error{"pack_options::capacity is 0; say how many elements a row has"};
    deal(options);
    (void)detail::checked_row_bytes("pack", packed_rows::fields());
  }

  std::uint64_t size() const override { return starts_.size(); }
  std::vector<field> fields() const override {
    return {detail::field_of(element_, capacity_),
            {element_.name + "_count", element_type::i32, {}},
            {element_.name + "_offsets", element_type::i32, {max_samples_ + 1}}};
  }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  std::uint64_t max_samples() const noexcept override { return max_samples_; }

  void prefetch(std::span<const sample_index> rows) const noexcept override try {
    std::vector<sample_index> samples;
    for (const sample_index row : rows)
      if (row.value < size())
        for_each_part(row.value, [&](const packed_part& part) { samples.push_back(part.sample); });
    of_->prefetch(samples);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

  std::vector<packed_part> parts_of(sample_index row) const override {
    detail::require_in_range({&row, 1}, size());
    std::vector<packed_part> parts;
    for_each_part(row.value, [&](const packed_part& part) { parts.push_back(part); });
    return parts;
  }

  double padding_share() const noexcept override {
    if (starts_.empty()) return 0;
    return 1 - elements_ / (static_cast<double>(starts_.size()) * static_cast<double>(capacity_));
  }

 private:
  void do_read(const read_request& request) const override {
    detail::require_in_range(request.samples, size());
    const std::size_t row_bytes = capacity_ * element_bytes_;
    const std::size_t offsets_bytes = (max_samples_ + 1) * sizeof(std::int32_t);
    std::vector<element_run> runs;
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const auto values = request.out[0].subspan(i * row_bytes, row_bytes);
      const auto offsets = request.out[2].subspan(i * offsets_bytes, offsets_bytes);
      std::uint64_t end = 0;
      std::uint64_t count = 0;
      put(offsets, 0, 0);
      for_each_part(request.samples[i].value, [&](const packed_part& part) {
        if (part.count != 0)
          runs.push_back({part.sample, part.first,
                          values.subspan(end * element_bytes_, part.count * element_bytes_)});
        end += part.count;
        put(offsets, ++count, end);
      });
      put(request.out[1], i, count);
      while (count < max_samples_) put(offsets, ++count, end);
      padding_.fill(values.subspan(end * element_bytes_));
    }
    try {
      of_->read(runs);
    } catch (const dataset_error& error) {
      rethrow(error, request.samples);
    }
  }

  /// Next-fit. A sample that is split begins a row, so the sample with which a row begins
  /// identifies the row: the k-th row of the same sample begins with the part that follows k whole
  /// rows.
  void deal(const pack_options& options) {
    const std::uint64_t limit =
        options.max_samples != 0 ? checked(options.max_samples, "max_samples") : capacity_;
    std::uint64_t used = 0;   // elements of the row that is being filled,
    std::uint64_t count = 0;  // and its samples
    std::uint64_t fullest = 0;
    const std::uint64_t samples = of_->size();
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t length = of_->length(sample_index{i});
      elements_ += static_cast<double>(length);
      if (length > capacity_) {
        if (options.longer == pack_longer::error)
          throw dataset_error{{.path = {}, .field = element_.name, .sample = i},
                              "has " + std::to_string(length) + " elements, more than the " +
                                  std::to_string(capacity_) +
                                  " of pack_options::capacity: raise it, or ask for "
                                  "pack_longer::split"};
        const std::uint64_t rows = detail::divide_up(length, capacity_);
        try {
          starts_.insert(starts_.end(), rows, i);
        } catch (const std::exception&) {  // std::bad_alloc, std::length_error
          throw usage_error{"pack: sample " + std::to_string(i) + " of " + std::to_string(length) +
                            " elements takes " + std::to_string(rows) +
                            " rows, for which there is no memory, at 8 bytes each"};
        }
        used = length - (rows - 1) * capacity_;
        count = 1;
      } else if (starts_.empty() || length > capacity_ - used || count == limit) {
        starts_.push_back(i);
        used = length;
        count = 1;
      } else {
        used += length;
        ++count;
      }
      fullest = std::max(fullest, count);
    }
    starts_.shrink_to_fit();
    max_samples_ = options.max_samples != 0 ? limit : std::max<std::uint64_t>(1, fullest);
  }

  template <class Use>
  void for_each_part(std::uint64_t row, const Use& use) const {
    const std::uint64_t begin = starts_[row];
    const std::uint64_t next = row + 1 < starts_.size() ? starts_[row + 1] : of_->size();
    std::uint64_t first = 0;
    std::uint64_t length = of_->length(sample_index{begin});
    if (length > capacity_) {
      const auto first_row = std::lower_bound(starts_.begin(), starts_.end(), begin);
      first = (row - static_cast<std::uint64_t>(first_row - starts_.begin())) * capacity_;
      length = std::min(length - first, capacity_);
    }
    use(packed_part{sample_index{begin}, first, length});
    for (std::uint64_t sample = begin + 1; sample < next; ++sample)
      use(packed_part{sample_index{sample}, 0, of_->length(sample_index{sample})});
  }

  /// With the row in place of the sample.
  [[noreturn]] void rethrow(const dataset_error& error, std::span<const sample_index> rows) const {
    std::optional<std::uint64_t> row;
    for (const sample_index read : rows)
      if (error.sample())
        for_each_part(read.value, [&](const packed_part& part) {
          if (part.sample.value == *error.sample() && !row) row = read.value;
        });
    detail::rethrow_as(error, row, "the ragged dataset that this packs");
  }

  ragged_dataset_ptr of_;
  field element_;
  std::size_t element_bytes_;
  std::uint64_t capacity_;
  std::uint64_t max_samples_ = 0;
  detail::padding padding_;
  double elements_ = 0;                ///< number of elements of all samples
  std::vector<std::uint64_t> starts_;  ///< the sample with which each row begins, or whose elements
                                       ///< it continues
};

}  // namespace

std::shared_ptr<const packed_dataset> pack(ragged_dataset_ptr of, const pack_options& options) {
  if (!of) throw usage_error{"pack: the dataset is null"};
  detail::require_known("pack_options::longer", options.longer, {"error", "split"});
  return std::make_shared<const packed_rows>(std::move(of), options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
