#include "ragged/file_values.hpp"

#include "detail/sample_range.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

class file_values final : public located_values {
 public:
  file_values(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends,
              std::vector<std::vector<byte_range>> ranges)
      : located_values{std::move(files), std::move(ends)}, ranges_{std::move(ranges)} {}

 private:
  byte_range range_of(std::size_t file, std::uint64_t number) const noexcept override {
    return ranges_[file][number];
  }

  std::vector<std::vector<byte_range>> ranges_;
};

}  // namespace

located_values::located_values(std::vector<byte_file_ptr> files, std::vector<std::uint64_t> ends)
    : files_{std::move(files)}, ends_{std::move(ends)} {}

located_values::place located_values::find(std::uint64_t sample) const noexcept {
  const std::size_t file = part_at(ends_, sample);
  const std::uint64_t number = sample - (file == 0 ? 0 : ends_[file - 1]);
  return {file, *files_[file], range_of(file, number)};
}

std::uint64_t located_values::stored_bytes(std::uint64_t sample) const {
  const byte_range bytes = find(sample).bytes;
  return bytes.end - bytes.begin;
}

std::span<const std::byte> located_values::read(std::uint64_t sample, const room& memory) const
    try {
  const place at = find(sample);
  const auto out = memory(static_cast<std::size_t>(at.bytes.end - at.bytes.begin));
  at.file.copy(at.bytes.begin, out);
  const auto value = value_in(out);
  at.file.require_unchanged();
  return value;
} catch (const dataset_error& fault) {
  refuse(fault, sample);
}

void located_values::refuse(const dataset_error& fault, std::uint64_t sample) const {
  const place at = find(sample);
  at.file.require_unchanged();
  throw dataset_error{{at.file.name(), fault.field(), sample, at.bytes.begin}, fault.message()};
}

bool located_values::wants_prefetch() const noexcept {
  constexpr std::size_t looked_at = 16;
  const std::size_t step = std::max<std::size_t>(1, files_.size() / looked_at);
  for (std::size_t i = 0; i < files_.size(); i += step)
    if (files_[i]->is_cold()) return true;
  return false;
}

void located_values::prefetch(std::span<const sample_index> samples) const noexcept {
  for (const sample_index sample : samples) {
    if (sample.value >= size()) continue;
    const place at = find(sample.value);
    at.file.will_need(at.bytes.begin, at.bytes.end - at.bytes.begin);
  }
}

coded_values_ptr make_file_values(std::vector<values_in_file> files) {
  std::vector<byte_file_ptr> opened;
  std::vector<std::uint64_t> ends;
  std::vector<std::vector<byte_range>> ranges;
  for (values_in_file& each : files) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + each.values.size());
    opened.push_back(std::move(each.file));
    ranges.push_back(std::move(each.values));
  }
  return std::make_shared<const file_values>(std::move(opened), std::move(ends), std::move(ranges));
}

}  // namespace feedline::detail
