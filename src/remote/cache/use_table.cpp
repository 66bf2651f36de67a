#include "remote/cache/use_table.hpp"

namespace feedline::detail {

void use_table::look_at(const byte_file& file) {
  file_ = &file;
  to_ = nullptr;
  const auto* const cached = dynamic_cast<const cached_file*>(&file);
  if (cached == nullptr) return;
  const auto take = [this](const object_identity& identity) {
    to_ = &objects_[identity.hash];
    if (!to_->uses.empty()) return;
    to_->block_bytes = identity.block_bytes;
    to_->size = identity.size;
    to_->uses.resize(static_cast<std::size_t>(identity.blocks()));
  };
  if (!cache_) cache_ = cached->cache();
  if (const object_identity* const identity = cached->identity())
    take(*identity);
  else if (which_ == files::all_remote)
    take(cached->identity_in_any_cache());
}

void use_table::add(const byte_file& file, std::span<const byte_range> ranges) noexcept try {
  if (&file != file_) look_at(file);
  if (to_ == nullptr) return;
  for (const byte_range& range : ranges)
    for (std::uint64_t at = range.begin; at < range.end;) {
      const std::uint64_t number = at / to_->block_bytes;
      const std::uint64_t end = std::min(range.end, (number + 1) * to_->block_bytes);
      block_use& use = to_->uses[static_cast<std::size_t>(number)];
      use.first = std::min(use.first, position_);
      use.last = std::max(use.last, position_);
      use.bytes += end - at;
      at = end;
    }
} catch (...) {
  has_failed_ = true;
}

}  // namespace feedline::detail
