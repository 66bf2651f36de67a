#include "remote/cache/use_table.hpp"

namespace feedline::detail {

void use_table::add(const byte_file& file, std::span<const byte_range> ranges) noexcept try {
  if (&file != file_) {
    file_ = &file;
    uses_ = nullptr;
    const auto* const cached = dynamic_cast<const cached_file*>(&file);
    if (const auto* const identity = cached == nullptr ? nullptr : cached->identity()) {
      uses_ = &objects_[identity->hash];
      uses_->resize(static_cast<std::size_t>(identity->blocks()));
      block_bytes_ = identity->block_bytes;
    }
  }
  if (uses_ == nullptr) return;
  for (const byte_range& range : ranges)
    for (std::uint64_t at = range.begin; at < range.end;) {
      const std::uint64_t number = at / block_bytes_;
      const std::uint64_t end = std::min(range.end, (number + 1) * block_bytes_);
      block_use& use = (*uses_)[static_cast<std::size_t>(number)];
      use.first = std::min(use.first, position_);
      use.last = std::max(use.last, position_);
      use.bytes += end - at;
      at = end;
    }
} catch (...) {
  has_failed_ = true;
}

}  // namespace feedline::detail
