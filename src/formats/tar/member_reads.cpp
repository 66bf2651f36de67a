#include "formats/tar/member_reads.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <tuple>

namespace feedline::detail {
namespace {

/// Kept memory of a run of usual members; more of it is given back.
constexpr std::size_t max_kept = std::size_t{64} << 20;

}  // namespace

std::span<const tar_member_reads::wanted> tar_member_reads::read(const tar_shards& shards) {
  place_unmapped(shards);
  std::vector<of_shard> begun;
  begun.reserve(unmapped_.size());
  for (std::size_t i = 0; i < unmapped_.size();) {
    of_shard& one = begun.emplace_back(of_shard{i, i});
    const std::size_t shard = all_[unmapped_[i]].shard;
    while (i < unmapped_.size() && all_[unmapped_[i]].shard == shard) ++i;
    one.end = i;
    one.read = shards.file(shard).begin_read(std::span{parts_}.subspan(one.begin, i - one.begin));
  }
  for (of_shard& one : begun) try {
      one.read->finish();
    } catch (const dataset_error& fault) {
      // Members of a shard are in the order of their offsets.
      std::size_t lost = one.begin;
      while (fault.where().offset && lost + 1 < one.end &&
             *fault.where().offset >= parts_[lost].end())
        ++lost;
      const wanted& member = all_[unmapped_[lost]];
      refuse_member(fault, shards, shards.find({member.sample}), *member.members, member.sample);
    }
  return all_;
}

/// Sets the bytes of all members: those of shards that are mapped are there.
void tar_member_reads::place_unmapped(const tar_shards& shards) {
  unmapped_.clear();
  parts_.clear();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    wanted& member = all_[i];
    const auto size = static_cast<std::size_t>(member.place.size);
    if (const auto map = shards.file(member.shard).mapped(); !map.empty()) {
      member.bytes = map.subspan(static_cast<std::size_t>(member.place.offset), size);
    } else {
      unmapped_.push_back(i);
      bytes += size;
    }
  }
  if (unmapped_.empty()) return;
  if (memory_.size() > max_kept && bytes < max_kept) memory_ = {};
  if (memory_.size() < bytes) memory_.resize(bytes);
  std::ranges::sort(unmapped_, {}, [this](std::size_t i) {
    return std::tuple{all_[i].shard, all_[i].place.offset, i};
  });
  std::size_t at = 0;
  for (const std::size_t i : unmapped_) {
    const auto out = std::span{memory_}.subspan(at, static_cast<std::size_t>(all_[i].place.size));
    all_[i].bytes = out;
    parts_.push_back({all_[i].place.offset, out});
    at += out.size();
  }
}

}  // namespace feedline::detail
