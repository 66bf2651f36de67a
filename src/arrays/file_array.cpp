#include "arrays/file_array.hpp"

#include <feedline/error.hpp>

#include "arrays/copy_box.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class file_array final : public array_source {
 public:
  file_array(array_spec spec, byte_file_ptr file, file_array_place place)
      : array_source{std::move(spec)},
        file_{std::move(file)},
        place_{std::move(place)},
        element_bytes_{size_bytes(this->spec().type)},
        order_(place_.strides.size()) {
    require_within();
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
      return place_.strides[a] > place_.strides[b];
    });
  }

  bool wants_prefetch() const noexcept override { return file_->is_cold(); }

  void prefetch(std::span<const array_box> boxes) const noexcept override try {
    std::vector<byte_range> ranges;
    for (const array_box& box : boxes)
      for_each_line(box, [&](const line& each) {
        ranges.push_back({each.offset, each.offset + each.bytes});
      });
    file_->will_need(ranges);
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  /// Elements of a box that are read by one call.
  struct line {
    std::uint64_t offset;
    std::size_t bytes;  ///< from the first to the last element, including those in between
    bool is_dense;      ///< it has no others, and its destination is as dense
    std::byte* out;
    std::size_t inner;  ///< index in `order_` of the first dimension that it extends along
  };

  void require_within() const {
    std::uint64_t end = 0;
    bool fits = !__builtin_add_overflow(place_.offset, element_bytes_, &end);
    for (std::size_t d = 0; d < place_.strides.size(); ++d) {
      std::uint64_t more = 0;
      fits = fits &&
             !__builtin_mul_overflow(spec().shape[d] - 1,
                                     static_cast<std::uint64_t>(place_.strides[d]), &more) &&
             !__builtin_add_overflow(end, more, &end);
    }
    if (fits && end <= file_->size()) return;
    throw dataset_error{
        {.path = file_->name(), .field = spec().name, .sample = {}, .offset = place_.offset},
        "the array, " + to_string(spec()) + ", would end at " +
            (fits ? "byte " + std::to_string(end) : std::string{"a byte beyond 64 bits"}) +
            ", but the file has " + std::to_string(file_->size()) +
            "; it was cut, or its header is wrong"};
  }

  void do_read(std::span<const array_box> boxes) const override {
    const auto bytes = file_->mapped();
    if (bytes.empty()) {
      for (const array_box& box : boxes) read_by_calls(box);
    } else {
      for (const array_box& box : boxes)
        copy(box, bytes.data() + offset_of(box), box.count, box.out);
    }
    file_->require_unchanged();
  }

  [[nodiscard]] std::uint64_t offset_of(const array_box& box) const noexcept {
    std::uint64_t offset = place_.offset;
    for (std::size_t d = 0; d < place_.strides.size(); ++d)
      offset += box.begin[d] * static_cast<std::uint64_t>(place_.strides[d]);
    return offset;
  }

  void copy(const array_box& box, const std::byte* from, std::span<const std::uint64_t> count,
            std::byte* out) const noexcept {
    std::array<std::ptrdiff_t, max_rank> from_stride{};
    for (std::size_t d = 0; d < place_.strides.size(); ++d)
      from_stride[d] = static_cast<std::ptrdiff_t>(box.step[d]) * place_.strides[d];
    copy_box({.count = count,
              .from = from,
              .from_stride = {from_stride.data(), place_.strides.size()},
              .to = out,
              .to_stride = box.stride,
              .element_bytes = element_bytes_,
              .swaps = place_.is_swapped && element_bytes_ > 1});
  }

  /// Calls `use` for each line of a box, in the order of the file. Lines extend along the
  /// dimensions that are nearest in the file, as long as most of their bytes are wanted.
  template <class Use>
  void for_each_line(const array_box& box, const Use& use) const {
    const std::size_t rank = order_.size();
    const auto file_step = [&](std::size_t d) {
      return box.step[d] * static_cast<std::uint64_t>(place_.strides[d]);
    };
    std::size_t inner = rank;
    std::uint64_t spanned = element_bytes_;
    std::uint64_t wanted = element_bytes_;
    bool is_dense = !place_.is_swapped;
    for (; inner > 0; --inner) {
      const std::size_t d = order_[inner - 1];
      const std::uint64_t more = (box.count[d] - 1) * file_step(d);
      constexpr std::uint64_t always_bytes = 4096;
      if (spanned + more > std::max(2 * wanted * box.count[d], always_bytes)) break;
      if (box.count[d] > 1)
        is_dense = is_dense && file_step(d) == wanted &&
                   box.stride[d] == static_cast<std::ptrdiff_t>(wanted);
      spanned += more;
      wanted *= box.count[d];
    }
    std::array<std::uint64_t, max_rank> at{};
    line each{offset_of(box), static_cast<std::size_t>(spanned), is_dense, box.out, inner};
    for (;;) {
      use(each);
      std::size_t i = inner;
      for (; i-- > 0;) {
        const std::size_t d = order_[i];
        each.offset += file_step(d);
        each.out += box.stride[d];
        if (++at[i] < box.count[d]) break;
        each.offset -= box.count[d] * file_step(d);
        each.out -= static_cast<std::ptrdiff_t>(box.count[d]) * box.stride[d];
        at[i] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) return;
    }
  }

  void read_by_calls(const array_box& box) const {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    struct kept_line {
      std::size_t at;
      std::byte* out;
    };
    std::vector<byte_read> reads;
    std::vector<kept_line> lines;
    std::vector<std::byte> scratch;
    std::vector<std::uint64_t> count(box.count.begin(), box.count.end());
    bool has_count = false;
    std::size_t used = 0;
    const auto flush = [&] {
      file_->read(reads);
      for (const kept_line& each : lines) copy(box, scratch.data() + each.at, count, each.out);
      reads.clear();
      lines.clear();
      used = 0;
    };
    for_each_line(box, [&](const line& each) {
      if (!std::exchange(has_count, true))
        for (std::size_t i = 0; i < each.inner; ++i) count[order_[i]] = 1;
      if (each.is_dense) {
        reads.push_back({each.offset, {each.out, each.bytes}});
        if (reads.size() == 1024) flush();
        return;
      }
      if (used != 0 && used + each.bytes > scratch.size()) flush();
      if (scratch.empty()) scratch.resize(std::max(piece_bytes, each.bytes));
      reads.push_back({each.offset, std::span{scratch}.subspan(used, each.bytes)});
      lines.push_back({used, each.out});
      used += each.bytes;
    });
    flush();
  }

  const byte_file_ptr file_;
  const file_array_place place_;
  const std::size_t element_bytes_;
  std::vector<std::size_t> order_;  ///< dimensions, the one that is nearest in the file last
};

}  // namespace

array_ptr make_file_array(array_spec spec, byte_file_ptr file, file_array_place place) {
  if (spec.path.empty()) spec.path = file->name();
  return std::make_shared<const file_array>(std::move(spec), std::move(file), std::move(place));
}

}  // namespace feedline::detail
