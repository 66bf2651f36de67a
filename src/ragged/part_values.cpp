#include "ragged/part_values.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

class part_values final : public coded_values {
 public:
  part_values(record_reads_ptr records, record_decoder_ptr by, std::size_t field, std::string name)
      : records_{std::move(records)},
        of_{records_->of()},
        by_{std::move(by)},
        field_{field},
        name_{std::move(name)} {}

  std::uint64_t size() const override { return of_->size(); }
  /// The size of the record, which is at least as large.
  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    return of_->stored_bytes(sample);
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    const auto read = records_->read(sample);
    try {
      const auto part = by_->coded_value(read.record(), field_);
      const auto out = memory(part.size());
      std::ranges::copy(part, out.begin());
      return out;
    } catch (const dataset_error& fault) {
      refuse(fault, sample);
    }
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    of_->refuse(
        {{.path = {}, .field = fault.field().empty() ? name_ : fault.field()}, fault.message()},
        sample);
    __builtin_unreachable();  // g++ 12 loses that a virtual function does not return
  }

  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }

 private:
  record_reads_ptr records_;
  coded_values_ptr of_;
  record_decoder_ptr by_;
  std::size_t field_;
  std::string name_;
};

}  // namespace

coded_values_ptr make_part_values(record_reads_ptr records, record_decoder_ptr by,
                                  std::size_t field, std::string name) {
  return std::make_shared<const part_values>(std::move(records), std::move(by), field,
                                             std::move(name));
}

}  // namespace feedline::detail
