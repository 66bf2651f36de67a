#include "arrays/chunked_array.hpp"

#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "arrays/encoded_array.hpp"
#include "detail/arithmetic.hpp"
#include "rows/block_cache.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// With a cache of fewer chunks, readers would evict each other's.
constexpr std::uint64_t least_kept = 4;

/// The cache must not take chunks for used up: how often windows will need one is unknown.
constexpr std::uint64_t never_used_up = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint64_t> grid_of(const array_spec& spec) {
  std::vector<std::uint64_t> grid;
  for (std::size_t d = 0; d < spec.shape.size(); ++d)
    grid.push_back(divide_up(spec.shape[d], spec.chunk[d]));
  return grid;
}

std::uint64_t count_of(const array_spec& spec) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : grid_of(spec))
    count = checked_multiply(count, extent).value_or(~std::uint64_t{0});
  if (count >= std::numeric_limits<std::uint32_t>::max() - 1)
    throw usage_error{"array " + to_string(spec) +
                      ": has more than 2^32 chunks; write it with "
                      "larger chunks"};
  return count;
}

std::size_t chunk_bytes_of(const array_spec& spec) {
  std::size_t bytes = size_bytes(spec.type);
  for (const std::uint64_t extent : spec.chunk)
    bytes = checked_multiply<std::size_t>(bytes, extent).value_or(0);
  if (bytes == 0 || bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    throw usage_error{"array " + to_string(spec) +
                      ": a chunk has more bytes than memory could "
                      "hold"};
  return bytes;
}

array_spec with_kept(array_spec spec, std::size_t cache_bytes) {
  const std::uint64_t count = count_of(spec);
  const std::uint64_t within =
      block_cache::max_blocks_within(cache_bytes, count, chunk_bytes_of(spec));
  spec.chunks_kept = std::min(std::max(within, least_kept), count);
  return spec;
}

class chunked_array final : public array_source, public encoded_array {
 public:
  chunked_array(array_spec spec, std::unique_ptr<const chunk_source> chunks,
                std::vector<std::byte> fill)
      : array_source{std::move(spec)},
        chunks_{std::move(chunks)},
        fill_{std::move(fill)},
        grid_{grid_of(this->spec())},
        strides_{dense_strides(this->spec().chunk, size_bytes(this->spec().type))},
        cache_{count_of(this->spec()), chunk_bytes_of(this->spec()), never_used_up,
               this->spec().chunks_kept} {}

  std::shared_ptr<const encoded_rows> encoded() const override { return chunks_->encoded(); }
  bool is_written(std::uint64_t chunk) const noexcept override {
    return chunks_->is_written(chunk);
  }
  std::span<const std::byte> fill() const noexcept override { return fill_; }
  void cut(const array_box& box, std::vector<chunk_part>& parts) const override {
    for (const piece& each : pieces_of({&box, 1})) parts.push_back(part_in(box, each.chunk));
  }

  bool wants_prefetch() const noexcept override { return chunks_->is_cold(); }

  void prefetch(std::span<const array_box> boxes) const noexcept override try {
    std::vector<piece> pieces = pieces_of(boxes);
    std::uint64_t last = ~std::uint64_t{0};
    for (const piece& each : pieces) {
      if (each.chunk == std::exchange(last, each.chunk) || !chunks_->is_written(each.chunk))
        continue;
      const bool has = [&] {
        const block_cache::read_guard guard{cache_};
        return guard.has(each.chunk);
      }();
      if (!has) chunks_->prefetch(each.chunk);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  /// A chunk that a box needs.
  struct piece {
    std::uint64_t chunk;
    std::size_t box;
  };

  void do_read(std::span<const array_box> boxes) const override {
    std::vector<piece> missing = pieces_of(boxes);
    const std::size_t all = missing.size();
    std::erase_if(missing, [&](const piece& each) {
      if (chunks_->is_written(each.chunk)) return false;
      copy(boxes[each.box], each.chunk, nullptr);
      return true;
    });
    const std::size_t written = missing.size();
    bool is_first = true;
    while (all != 0) {
      copy_present(boxes, missing);
      if (std::exchange(is_first, false))
        count_read({.cache_hits = written - missing.size(), .cache_misses = missing.size()});
      read_absent(boxes, missing);
      if (missing.empty()) break;
      cache_.wait_while_filling(missing.front().chunk);  // others read all that are left
    }
    chunks_->require_unchanged();
  }

  void copy_present(std::span<const array_box> boxes, std::vector<piece>& missing) const {
    block_cache::read_guard guard{cache_};
    std::erase_if(missing, [&](const piece& each) {
      const std::byte* const values = guard.find(each.chunk);
      if (values == nullptr) return false;
      copy(boxes[each.box], each.chunk, values);
      return true;
    });
  }

  /// Reads chunks that no other thread reads, and copies their elements while they are in the
  /// processor's cache. @param missing Sorted by chunk; those of other threads are left.
  void read_absent(std::span<const array_box> boxes, std::vector<piece>& missing) const {
    std::vector<piece> left;
    for (std::size_t i = 0; i < missing.size();) {
      const std::uint64_t chunk = missing[i].chunk;
      std::size_t end = i;
      while (end < missing.size() && missing[end].chunk == chunk) ++end;
      if (auto fill = cache_.begin_fill(chunk)) {
        chunks_->read(chunk, fill->bytes());
        count_read({.decoded = 1});
        for (std::size_t k = i; k < end; ++k)
          copy(boxes[missing[k].box], chunk, fill->bytes().data());
        fill->publish(end - i);
      } else {
        left.insert(left.end(), missing.begin() + static_cast<std::ptrdiff_t>(i),
                    missing.begin() + static_cast<std::ptrdiff_t>(end));
      }
      i = end;
    }
    missing = std::move(left);
  }

  /// The chunks that boxes need, sorted by chunk.
  [[nodiscard]] std::vector<piece> pieces_of(std::span<const array_box> boxes) const {
    std::vector<piece> pieces;
    const std::size_t rank = grid_.size();
    std::array<std::uint64_t, max_rank> at{};
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const array_box& box = boxes[b];
      const auto first = [&](std::size_t d) { return box.begin[d] / spec().chunk[d]; };
      const auto last = [&](std::size_t d) {
        return (box.begin[d] + (box.count[d] - 1) * box.step[d]) / spec().chunk[d];
      };
      for (std::size_t d = 0; d < rank; ++d) at[d] = first(d);
      for (bool is_done = false; !is_done;) {
        std::uint64_t chunk = 0;
        bool is_needed = true;
        for (std::size_t d = 0; d < rank; ++d) {
          chunk = chunk * grid_[d] + at[d];
          is_needed = is_needed && part_of(box, d, at[d]).count != 0;
        }
        if (is_needed) pieces.push_back({chunk, b});
        is_done = true;
        for (std::size_t d = rank; d-- > 0;) {
          if (at[d]++ < last(d)) {
            is_done = false;
            break;
          }
          at[d] = first(d);
        }
      }
    }
    std::ranges::stable_sort(pieces, {}, &piece::chunk);
    return pieces;
  }

  /// Elements of a box that a chunk has along a dimension.
  struct part {
    std::uint64_t first;  ///< index in the box
    std::uint64_t count;
    std::uint64_t in_chunk;  ///< index in the chunk of the first one
  };

  [[nodiscard]] part part_of(const array_box& box, std::size_t d,
                             std::uint64_t position) const noexcept {
    const std::uint64_t begin = position * spec().chunk[d];
    const std::uint64_t end = begin + spec().chunk[d];
    const std::uint64_t first =
        begin <= box.begin[d] ? 0 : divide_up(begin - box.begin[d], box.step[d]);
    if (first >= box.count[d]) return {first, 0, 0};
    const std::uint64_t at = box.begin[d] + first * box.step[d];
    if (at >= end) return {first, 0, 0};
    return {first, std::min((end - 1 - at) / box.step[d] + 1, box.count[d] - first), at - begin};
  }

  [[nodiscard]] chunk_part part_in(const array_box& box, std::uint64_t chunk) const noexcept {
    chunk_part all{.chunk = chunk, .count = {}, .from = 0, .from_stride = {}, .to = 0};
    for (std::size_t d = grid_.size(); d-- > 0; chunk /= grid_[d]) {
      const part here = part_of(box, d, chunk % grid_[d]);
      all.count[d] = here.count;
      all.to += static_cast<std::ptrdiff_t>(here.first) * box.stride[d];
      all.from += here.in_chunk * static_cast<std::uint64_t>(strides_[d]);
      all.from_stride[d] = static_cast<std::ptrdiff_t>(box.step[d]) * strides_[d];
    }
    return all;
  }

  /// @param values The chunk's elements; null: the fill value.
  void copy(const array_box& box, std::uint64_t chunk, const std::byte* values) const noexcept {
    const std::size_t rank = grid_.size();
    chunk_part here = part_in(box, chunk);
    if (values == nullptr) here.from_stride.fill(0);
    copy_box({.count = {here.count.data(), rank},
              .from = values == nullptr ? fill_.data() : values + here.from,
              .from_stride = {here.from_stride.data(), rank},
              .to = box.out + here.to,
              .to_stride = box.stride,
              .element_bytes = size_bytes(spec().type)});
  }

  const std::unique_ptr<const chunk_source> chunks_;
  const std::vector<std::byte> fill_;
  const std::vector<std::uint64_t> grid_;
  const std::vector<std::ptrdiff_t> strides_;  ///< distances between a chunk's elements
  mutable block_cache cache_;
};

}  // namespace

array_ptr make_chunked_array(array_spec spec, std::unique_ptr<const chunk_source> chunks,
                             std::vector<std::byte> fill, std::size_t cache_bytes) {
  for (std::size_t d = 0; d < spec.chunk.size() && d < spec.shape.size(); ++d)
    if (spec.chunk[d] == 0)
      throw usage_error{"array " + to_string(spec) + ": a chunk's extent is 0"};
  if (spec.chunk.size() != spec.shape.size())
    throw usage_error{"array " + to_string(spec) + ": its chunks have " +
                      std::to_string(spec.chunk.size()) + " extents"};
  return std::make_shared<const chunked_array>(with_kept(std::move(spec), cache_bytes),
                                               std::move(chunks), std::move(fill));
}

}  // namespace feedline::detail
