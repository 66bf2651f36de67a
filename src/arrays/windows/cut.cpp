#include "arrays/windows/cut.hpp"

#include <feedline/error.hpp>

#include "arrays/array_chunks.hpp"
#include "arrays/cut/window_box.hpp"
#include "arrays/encoded_array.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// A device counts bytes of chunks and rows in 31 bits.
constexpr std::size_t max_bytes = std::numeric_limits<std::int32_t>::max() - std::size_t{1024};
/// Samples of more pieces are cut out by readers.
constexpr std::uint64_t max_pieces_of_field = 4096;

/// The steps of a field that a device cuts out, and those of other fields.
constexpr block_step cut_step{.filter = block_filter::window};

std::size_t decoded_bytes_of(const array_spec& spec) noexcept {
  std::size_t bytes = size_bytes(spec.type);
  for (const std::uint64_t extent : spec.chunk) bytes *= extent;
  return bytes;
}

/// Elements of a window along an axis, from its position on.
struct axis_reach {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

axis_reach reach_of(const part_axis& axis) {
  const auto span = static_cast<std::int64_t>((axis.count - 1) * axis.step);
  return {axis.offset, axis.offset + span};
}

/// No window has elements in more chunks along an axis.
std::uint64_t chunks_along(const window_plan& plan, const array_spec& spec, std::size_t d,
                           std::size_t window, const axis_reach& reach) {
  const std::uint64_t chunk = spec.chunk[d];
  const auto& along = plan.windows[window];
  const auto span = static_cast<std::uint64_t>(reach.last - reach.first) + 1;
  // Windows on a grid begin at the same elements of chunks again and again.
  std::uint64_t last = chunk - 1;  // last element of a chunk at which a window begins
  if (along.position == window_position::grid && along.excluded.empty() &&
      along.edges == window_edges::drop) {
    const std::uint64_t apart = std::gcd(along.stride, chunk);
    const auto first = static_cast<std::uint64_t>(plan.positions[window][0] + reach.first);
    last = first % apart + chunk - apart;
  }
  return std::min((last + span - 1) / chunk + 1, divide_up(spec.shape[d], chunk));
}

/// The most chunks that a part of a sample needs along an axis, and the most pieces.
struct axis_counts {
  std::uint64_t chunks;
  std::uint64_t pieces;
};

axis_counts count_axis(const window_plan& plan, const window_part& part, std::size_t d) {
  const array_spec& spec = part.array->spec();
  const part_axis& axis = part.axes[d];
  const std::uint64_t grid = divide_up(spec.shape[d], spec.chunk[d]);
  if (!axis.window) return {grid, grid};
  const axis_reach reach = reach_of(axis);
  const std::uint64_t most = std::min(chunks_along(plan, spec, d, *axis.window, reach), axis.count);
  if (plan.windows[*axis.window].edges != window_edges::reflect) return {most, most};
  const auto span = static_cast<std::uint64_t>(reach.last - reach.first) + 1;
  const std::uint64_t runs = 3 * (span / std::max<std::uint64_t>(spec.shape[d] - 1, 1) + 2);
  return {std::min(grid, axis.count), std::min(axis.count, runs * most)};
}

/// The most chunks of an array that the parts of a sample need together, as far as that follows
/// from how far they reach.
std::uint64_t chunks_within_reach(const window_plan& plan, const array_source& array) {
  const array_spec& spec = array.spec();
  std::uint64_t chunks = 1;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    std::optional<std::size_t> window;
    axis_reach all;
    for (const window_part& part : plan.parts) {
      if (part.array.get() != &array || !part.axes[d].window) continue;
      const part_axis& axis = part.axes[d];
      const axis_reach own = reach_of(axis);
      all = window ? axis_reach{std::min(all.first, own.first), std::max(all.last, own.last)} : own;
      window = axis.window;
    }
    chunks *= window && plan.windows[*window].edges != window_edges::reflect
                  ? chunks_along(plan, spec, d, *window, all)
                  : divide_up(spec.shape[d], spec.chunk[d]);
  }
  return chunks;
}

class cut_windows final : public window_blocks {
 public:
  explicit cut_windows(std::shared_ptr<const window_samples> samples)
      : samples_{std::move(samples)}, is_window_(plan().fields.size(), true) {
    find_windows();
    std::vector<std::shared_ptr<const encoded_rows>> chunks;
    for (const source& each : sources_) chunks.push_back(each.chunks);
    chunks_ = std::make_shared<const array_chunks>(std::move(chunks));
  }

  bool is_empty() const noexcept { return std::ranges::count(is_window_, true) == 0; }

  std::span<const block_step> steps(std::size_t field) const noexcept override {
    return {&cut_step, is_window_[field] ? 1U : 0U};
  }
  stored_block stored(std::size_t field, std::uint64_t /*block*/) const noexcept override {
    return {.bytes = plan().field_bytes[field], .skipped = is_window_[field] ? 1U : 0U};
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    return plan().field_bytes[field];
  }
  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const override {
    samples_->read_field(field, sample_index{block}, context, out);
    return stored(field, block);
  }
  void decode(std::size_t field, std::span<const std::byte> bytes, const stored_block& /*stored*/,
              std::span<std::byte> out) const override {
    if (bytes.size() != out.size())
      throw dataset_error{{.path = {}, .field = plan().fields[field].name},
                          "a row has " + std::to_string(bytes.size()) + " bytes, but should have " +
                              std::to_string(out.size())};
    std::memcpy(out.data(), bytes.data(), out.size());
  }

  bool is_window(std::size_t field) const noexcept override { return is_window_[field]; }
  std::span<const array> arrays() const noexcept override { return arrays_; }
  std::shared_ptr<const encoded_blocks> chunks() const override { return chunks_; }
  std::uint64_t max_pieces(std::size_t field) const noexcept override { return pieces_[field]; }

  void cut(std::size_t field, sample_index sample, const sample_context& context,
           recipe& out) const override {
    out.pieces.clear();
    thread_local std::vector<piece> pieces;
    pieces.clear();
    for (std::size_t p = 0; p < plan().parts.size(); ++p) {
      const window_part& part = plan().parts[p];
      if (part.field == field && !add_pieces(part, source_of_[p], sample, context, pieces))
        out.pieces.push_back(pad_of(part));
    }
    out.fills = static_cast<std::uint32_t>(out.pieces.size());
    out.pieces.insert(out.pieces.end(), pieces.begin(), pieces.end());
  }

 private:
  /// An array whose chunks devices decode.
  struct source {
    const array_source* array;
    const encoded_array* chunked;
    std::shared_ptr<const encoded_rows> chunks;
  };

  const window_plan& plan() const noexcept { return samples_->plan(); }

  /// Finds the fields whose parts are all cut out of chunks, and counts their pieces.
  void find_windows() {
    const auto& parts = plan().parts;
    pieces_.assign(plan().fields.size(), 0);
    source_of_.assign(parts.size(), 0);
    for (std::size_t f = 0; f < plan().fields.size(); ++f)
      if (plan().field_bytes[f] > max_bytes) is_window_[f] = false;
    for (const window_part& part : parts) {
      const array_spec& spec = part.array->spec();
      const auto* const chunked = dynamic_cast<const encoded_array*>(part.array.get());
      bool is_cut = chunked != nullptr && spec.shape.size() <= window_box::max_rank &&
                    decoded_bytes_of(spec) <= max_bytes && chunked->encoded() != nullptr;
      if (is_cut) {
        const auto all = pieces_of(part);
        is_cut = all && *all <= max_pieces_of_field;
        if (is_cut) pieces_[part.field] += *all + 1;  // one for elements beyond the array
      }
      if (!is_cut || pieces_[part.field] > max_pieces_of_field) is_window_[part.field] = false;
    }
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (is_window_[parts[p].field]) add_source(p);
  }

  std::optional<std::uint64_t> pieces_of(const window_part& part) const {
    std::optional<std::uint64_t> all{1};
    for (std::size_t d = 0; d < part.axes.size() && all; ++d)
      all = checked_multiply(*all, count_axis(plan(), part, d).pieces);
    return all;
  }

  void add_source(std::size_t p) {
    const window_part& part = plan().parts[p];
    const array_spec& spec = part.array->spec();
    const auto found = std::ranges::find(sources_, part.array.get(), &source::array);
    const auto number = static_cast<std::size_t>(found - sources_.begin());
    if (found == sources_.end()) {
      const auto* const chunked = dynamic_cast<const encoded_array*>(part.array.get());
      sources_.push_back({part.array.get(), chunked, chunked->encoded()});
      std::uint64_t chunks = 1;
      for (std::size_t d = 0; d < spec.shape.size(); ++d)
        chunks *= divide_up(spec.shape[d], spec.chunk[d]);
      arrays_.push_back(
          {.name = spec.name, .chunks = chunks, .chunk_bytes = decoded_bytes_of(spec)});
    }
    source_of_[p] = number;
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < spec.shape.size(); ++d)
      chunks *= count_axis(plan(), part, d).chunks;
    array& counted = arrays_[number];
    counted.max_chunks =
        std::min(counted.max_chunks + chunks, chunks_within_reach(plan(), *part.array));
  }

  /// @return Whether all elements of the part are the array's.
  bool add_pieces(const window_part& part, std::size_t number, sample_index sample,
                  const sample_context& context, std::vector<piece>& pieces) const {
    thread_local box_list boxes;  // kept, to avoid allocation
    thread_local std::vector<chunk_part> cuts;
    boxes.clear();
    const bool is_whole = samples_->add_boxes(part, sample, context, boxes);
    if (boxes.empty()) return is_whole;
    const source& from = sources_[number];
    const std::size_t rank = part.axes.size();
    for (const array_box& box : boxes.boxes()) {
      cuts.clear();
      from.chunked->cut(box, cuts);
      for (const chunk_part& cut : cuts) {
        const auto begin = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(box.out));
        const box_extents extents{.count = {cut.count.data(), rank},
                                  .from = cut.from,
                                  .from_stride = {cut.from_stride.data(), rank},
                                  .to = static_cast<std::uint64_t>(begin + cut.to),
                                  .to_stride = box.stride,
                                  .element_bytes = size_bytes(part.array->spec().type),
                                  .chunk_bytes = arrays_[number].chunk_bytes,
                                  .row_bytes = plan().field_bytes[part.field]};
        const bool is_written = from.chunked->is_written(cut.chunk);
        piece made{
            is_written ? cut.chunk : no_chunk,
            is_written ? make_window_box(extents) : make_fill_box(extents, from.chunked->fill())};
        made.box.field = static_cast<std::uint32_t>(number);
        pieces.push_back(made);
      }
    }
    return is_whole;
  }

  /// The whole part, filled with its pad.
  piece pad_of(const window_part& part) const {
    std::vector<std::uint64_t> count;
    std::vector<std::ptrdiff_t> stride;
    for (const part_axis& axis : part.axes) {
      count.push_back(axis.count);
      stride.push_back(axis.stride);
    }
    return {no_chunk, make_fill_box({.count = count,
                                     .from = 0,
                                     .from_stride = {},
                                     .to = part.first_byte,
                                     .to_stride = stride,
                                     .element_bytes = part.pad.size(),
                                     .chunk_bytes = 0,
                                     .row_bytes = plan().field_bytes[part.field]},
                                    part.pad)};
  }

  const std::shared_ptr<const window_samples> samples_;
  std::vector<bool> is_window_;
  std::vector<std::uint64_t> pieces_ = {};   ///< most pieces of each field
  std::vector<std::size_t> source_of_ = {};  ///< number in `sources_`, for each part of a window
  std::vector<source> sources_ = {};
  std::vector<array> arrays_ = {};
  std::shared_ptr<const encoded_blocks> chunks_;
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_window_blocks(
    std::shared_ptr<const window_samples> samples) {
  auto made = std::make_shared<const cut_windows>(std::move(samples));
  if (made->is_empty()) return nullptr;
  return made;
}

}  // namespace feedline::detail
