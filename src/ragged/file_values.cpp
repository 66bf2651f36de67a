#include "ragged/file_values.hpp"

#include "detail/sample_range.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

class file_values final : public coded_values {
 public:
  explicit file_values(std::vector<values_in_file> files) : files_{std::move(files)} {
    std::uint64_t values = 0;
    for (const values_in_file& each : files_) ends_.push_back(values += each.values.size());
  }

  std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    const place at = find(sample);
    return at.bytes.end - at.bytes.begin;
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override try {
    const place at = find(sample);
    const auto out = memory(static_cast<std::size_t>(at.bytes.end - at.bytes.begin));
    at.file.read(at.bytes.begin, out);
    at.file.require_unchanged();
    return out;
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    const place at = find(sample);
    at.file.require_unchanged();
    throw dataset_error{{at.file.name(), fault.field(), sample, at.bytes.begin}, fault.message()};
  }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(files_, [](const auto& each) { return each.file->is_cold(); });
  }
  bool hints_ranges() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const place at = find(sample.value);
      at.file.will_need(at.bytes.begin, at.bytes.end - at.bytes.begin);
    }
  }

 private:
  struct place {
    const byte_file& file;
    byte_range bytes;
  };

  [[nodiscard]] place find(std::uint64_t sample) const noexcept {
    const std::size_t file = part_at(ends_, sample);
    const std::uint64_t first = file == 0 ? 0 : ends_[file - 1];
    return {*files_[file].file, files_[file].values[sample - first]};
  }

  std::vector<values_in_file> files_;
  std::vector<std::uint64_t> ends_;  ///< values of all files up to each
};

}  // namespace

coded_values_ptr make_file_values(std::vector<values_in_file> files) {
  return std::make_shared<const file_values>(std::move(files));
}

}  // namespace feedline::detail
