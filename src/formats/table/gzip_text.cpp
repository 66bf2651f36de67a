#include "formats/table/gzip_text.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/threads.hpp"
#include "io/gzip_points.hpp"
#include "io/gzip_source.hpp"
#include "rows/block_cache.hpp"
#include "rows/row_storage.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t block_span = std::uint64_t{4} << 20;

struct packed_text {
  byte_file_ptr file;
  gzip_points points = {};
  std::uint64_t first_block = 0;  ///< among those of all files
};

/// The blocks of all files.
class block_store {
 public:
  block_store(std::vector<packed_text> files, const text_blocks& of)
      : files_{std::move(files)},
        // The number of lines in a block is not known, so a block is never used up.
        cache_{of.count, of.bytes, std::numeric_limits<std::uint32_t>::max(), of.kept} {}

  [[nodiscard]] const packed_text& file(std::size_t number) const noexcept {
    return files_[number];
  }

  /// The point of the block that has a byte of the content.
  [[nodiscard]] std::size_t point_of(std::size_t file, std::uint64_t at) const noexcept {
    const auto& points = files_[file].points.points;
    const auto next = std::ranges::upper_bound(points, at, {}, &gzip_point::raw);
    return static_cast<std::size_t>(next - points.begin()) - 1;
  }

  void read(std::size_t file, std::uint64_t at, std::span<std::byte> out) const {
    while (!out.empty()) {
      const std::size_t point = point_of(file, at);
      const byte_range range = files_[file].points.raw_range(point);
      const auto some =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), range.end - at));
      copy_part(file, point, static_cast<std::size_t>(at - range.begin), out.first(some));
      out = out.subspan(some);
      at += some;
    }
  }

 private:
  void copy_part(std::size_t number, std::size_t point, std::size_t from,
                 std::span<std::byte> out) const {
    const packed_text& of = files_[number];
    const std::uint64_t block = of.first_block + point;
    for (;;) {
      {
        block_cache::read_guard guard{cache_};
        if (const std::byte* const begin = guard.find(block)) {
          std::copy_n(begin + from, out.size(), out.begin());
          return;
        }
      }
      if (auto fill = cache_.begin_fill(block)) {
        const byte_range range = of.points.raw_range(point);
        const auto bytes = fill->bytes().first(static_cast<std::size_t>(range.end - range.begin));
        readers_.take()->read(*of.file, of.points, point, bytes);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), out.size(), out.begin());
        fill->publish(1);
        return;
      }
      cache_.wait_while_filling(block);
    }
  }

  std::vector<packed_text> files_;
  mutable block_cache cache_;
  mutable scratch_pool<gzip_part_reader> readers_{
      [] { return std::make_unique<gzip_part_reader>(); }};
};

/// The decompressed content of a file.
class unpacked_file final : public byte_file {
 public:
  unpacked_file(std::shared_ptr<const block_store> of, std::size_t number)
      : byte_file{of->file(number).file->name(), of->file(number).points.raw_bytes, {}},
        of_{std::move(of)},
        number_{number} {}

  void require_unchanged() const override { packed().require_unchanged(); }
  std::string version() const override { return packed().version(); }
  bool has_version() const noexcept override { return packed().has_version(); }
  bool is_cold() const noexcept override { return packed().is_cold(); }

 private:
  [[nodiscard]] const byte_file& packed() const noexcept { return *of_->file(number_).file; }

  void do_read(std::span<const byte_read> parts) const override {
    for (const byte_read& each : parts) of_->read(number_, each.offset, each.out);
  }

  void do_will_need(std::span<const byte_range> ranges) const noexcept override {
    const auto& points = of_->file(number_).points.points;
    for (const byte_range& each : ranges) {
      const std::size_t last = of_->point_of(number_, each.end - 1) + 1;
      const std::uint64_t begin = points[of_->point_of(number_, each.begin)].stored;
      const std::uint64_t end = last == points.size() ? packed().size() : points[last].stored;
      packed().will_need(begin, end - begin);
    }
  }

  std::shared_ptr<const block_store> of_;
  std::size_t number_;
};

bool is_packed(const byte_file& file) {
  std::array<std::byte, 2> head{};
  if (file.size() < head.size()) return false;
  file.read(0, head);
  return is_gzip(head);
}

std::uint64_t kept_of(const text_blocks& of, std::size_t max_host_cache_bytes) {
  constexpr std::uint64_t fewest = 2;
  const std::size_t allowed =
      max_host_cache_bytes != 0 ? max_host_cache_bytes : machine_memory_bytes() / 4;
  const std::uint64_t within = block_cache::max_blocks_within(allowed, of.count, of.bytes);
  return std::min(std::max(within, fewest), of.count);
}

}  // namespace

text_files unpack_text_files(std::vector<byte_file_ptr> files, std::size_t max_host_cache_bytes) {
  text_files made{.files = std::move(files), .blocks = {}};
  std::vector<packed_text> packed;
  std::vector<std::size_t> places;
  std::vector<char> packs(made.files.size());  // no bits, which threads would share
  parallel_for(packs.size(), [&](std::size_t i) { packs[i] = is_packed(*made.files[i]) ? 1 : 0; });
  for (std::size_t i = 0; i < packs.size(); ++i) {
    if (packs[i] == 0) continue;
    packed.push_back({.file = made.files[i]});
    places.push_back(i);
  }
  if (packed.empty()) return made;
  parallel_for(packed.size(), [&](std::size_t i) {
    packed[i].points = find_gzip_points(*packed[i].file, block_span);
  });
  made.blocks.bytes = 1;
  for (packed_text& each : packed) {
    each.first_block = made.blocks.count;
    made.blocks.count += each.points.points.size();
    for (std::size_t i = 0; i < each.points.points.size(); ++i) {
      const byte_range range = each.points.raw_range(i);
      made.blocks.bytes =
          std::max(made.blocks.bytes, static_cast<std::size_t>(range.end - range.begin));
    }
  }
  made.blocks.kept = kept_of(made.blocks, max_host_cache_bytes);
  const auto store = std::make_shared<const block_store>(std::move(packed), made.blocks);
  for (std::size_t i = 0; i < places.size(); ++i)
    made.files[places[i]] = std::make_shared<const unpacked_file>(store, i);
  // Files that are not compressed count like blocks, so that the mean of lines in one is right.
  for (std::size_t i = 0; i < packs.size(); ++i)
    if (packs[i] == 0) made.blocks.count += divide_up(made.files[i]->size(), block_span);
  return made;
}

}  // namespace feedline::detail
