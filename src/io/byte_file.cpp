#include "io/byte_file.hpp"

#include "io/read_forecast.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

/// A gap between two hints up to this size is asked for with them: one larger read is faster than
/// two, and bytes in between will often be wanted later in the epoch.
constexpr std::uint64_t max_hint_gap = std::uint64_t{64} << 10;

/// Some parts that are read as one.
struct joined {
  std::size_t first = 0;  ///< index of the first part
  std::size_t end = 0;
  std::size_t read = 0;  ///< index in `joined_reads::reads`
};

/// The buffers of a read of several parts. A thread keeps its last ones, to avoid allocation.
struct joined_reads {
  std::vector<byte_read> reads;
  std::vector<joined> joins;
  std::vector<std::byte> between;  ///< the bytes of all joins

  void clear() noexcept {
    constexpr std::size_t max_kept = std::size_t{8} << 20;
    reads.clear();
    joins.clear();
    if (between.size() > max_kept) between = {};
  }
};

/// The thread's kept `joined_reads`, taken out while it is in use: a file may read another one.
class taken_reads {
 public:
  taken_reads() : reads_{std::move(kept())} {}
  taken_reads(const taken_reads&) = delete;
  taken_reads& operator=(const taken_reads&) = delete;
  ~taken_reads() {
    reads_.clear();
    kept() = std::move(reads_);
  }
  joined_reads& operator*() noexcept { return reads_; }

 private:
  static joined_reads& kept() {
    thread_local joined_reads reads;
    return reads;
  }

  joined_reads reads_;
};

/// A file's parts, which are read when they are to be there.
class later_read final : public begun_read {
 public:
  later_read(const byte_file& file, std::span<byte_read> parts) : file_{file}, parts_{parts} {}
  void finish() override { file_.read(parts_); }

 private:
  const byte_file& file_;
  std::span<byte_read> parts_;
};

bool continues(const byte_read& one, const byte_read& next) noexcept {
  return next.offset == one.end() && next.out.data() == one.out.data() + one.out.size();
}

}  // namespace

void byte_file::require_within(const byte_read& part) const {
  if (part.offset > size_ || part.out.size() > size_ - part.offset)
    throw error(part.offset, "there are no " + std::to_string(part.out.size()) +
                                 " bytes here: the file has " + std::to_string(size_));
}

void byte_file::read(std::uint64_t offset, std::span<std::byte> out) const {
  const byte_read part{offset, out};
  require_within(part);
  if (!out.empty()) do_read({&part, 1});
}

void byte_file::copy(std::uint64_t offset, std::span<std::byte> out) const {
  constexpr std::size_t max_copied = std::size_t{64} << 10;
  if (!out.empty() && out.size() <= max_copied)
    if (const auto bytes = mapped(); offset < bytes.size() && out.size() <= bytes.size() - offset) {
      std::memcpy(out.data(), bytes.data() + offset, out.size());
      return;
    }
  read(offset, out);
}

void byte_file::read(std::span<byte_read> parts) const {
  if (!std::ranges::is_sorted(parts, {}, &byte_read::offset))
    std::ranges::sort(parts, {}, &byte_read::offset);
  for (const byte_read& part : parts) require_within(part);
  taken_reads taken;
  auto& [reads, joins, between] = *taken;
  std::size_t joined_bytes = 0;
  for (std::size_t i = 0; i < parts.size();) {
    const std::size_t first = i;
    byte_read whole = parts[i++];
    while (i < parts.size() && continues(whole, parts[i]))  // no copy is needed
      whole.out = {whole.out.data(), whole.out.size() + parts[i++].out.size()};
    const std::size_t direct_end = i;
    std::uint64_t end = whole.end();
    for (; i < parts.size() && parts[i].offset <= end + joins_.max_gap; ++i) {
      const std::uint64_t new_end = std::max(end, parts[i].end());
      if (new_end - whole.offset > joins_.max_bytes) break;
      end = new_end;
    }
    if (i != direct_end) {
      const auto bytes = static_cast<std::size_t>(end - whole.offset);
      joins.push_back({first, i, reads.size()});
      whole.out = {static_cast<std::byte*>(nullptr), bytes};  // set below
      joined_bytes += bytes;
    }
    if (!whole.out.empty()) reads.push_back(whole);
  }
  if (between.size() < joined_bytes) between.resize(joined_bytes);
  std::size_t used = 0;
  for (const joined& each : joins) {
    byte_read& read = reads[each.read];
    read.out = std::span{between}.subspan(used, read.out.size());
    used += read.out.size();
  }
  if (!reads.empty()) do_read(reads);
  for (const joined& each : joins)
    for (const byte_read& part : parts.subspan(each.first, each.end - each.first))
      if (!part.out.empty())
        std::memcpy(part.out.data(),
                    reads[each.read].out.data() + (part.offset - reads[each.read].offset),
                    part.out.size());
}

std::unique_ptr<begun_read> byte_file::begin_read(std::span<byte_read> parts) const {
  std::ranges::sort(parts, {}, &byte_read::offset);
  for (const byte_read& part : parts) require_within(part);
  if (auto begun = do_begin_read(parts)) return begun;
  return std::make_unique<later_read>(*this, parts);
}

void byte_file::will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  if (offset >= size_) return;
  byte_range range{offset, offset + std::min(bytes, size_ - offset)};
  will_need({&range, 1});
}

void byte_file::will_need(std::span<byte_range> ranges) const noexcept {
  std::ranges::sort(ranges, {}, &byte_range::begin);
  std::size_t count = 0;  // ranges so far that are apart from each other
  for (byte_range range : ranges) {
    range.end = std::min(range.end, size_);
    if (range.begin >= range.end) continue;
    if (count != 0 && range.begin <= ranges[count - 1].end + max_hint_gap)
      ranges[count - 1].end = std::max(ranges[count - 1].end, range.end);
    else
      ranges[count++] = range;
  }
  if (count == 0) return;
  if (range_recorder* const recorder = range_recorder::of_this_thread())
    recorder->add(*this, ranges.first(count));
  else
    do_will_need(ranges.first(count));
}

}  // namespace feedline::detail
