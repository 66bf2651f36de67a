#include "arrays/sparse/csr_blocks.hpp"

#include <feedline/dataset/window_block.hpp>
#include <feedline/error.hpp>

#include "arrays/array_chunks.hpp"
#include "arrays/encoded_array.hpp"
#include "dataset/sparse/sparse_row.hpp"
#include "dataset/window_blocks.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Rows that need more runs are gathered by readers.
constexpr std::uint64_t max_boxes = 4096;
/// A device counts bytes of rows and chunks in 31 bits.
constexpr std::size_t max_bytes_of_block =
    std::numeric_limits<std::int32_t>::max() - std::size_t{1024};

/// Where the numbers of a row are in a block: its head, two boxes, values, columns.
class block_layout {
 public:
  block_layout(const sparse_types& types, std::uint64_t count) noexcept
      : count_{count},
        value_bytes_{static_cast<std::uint32_t>(size_bytes(types.values))},
        column_bytes_{types.column_bytes},
        columns_at_{round_up<std::size_t>(values_at + count * value_bytes_, sizeof(std::uint64_t))},
        bytes_{count == 0 ? sizeof(window_block) : columns_at_ + count * column_bytes_} {}

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::byte* values(std::byte* block) const noexcept { return block + values_at; }
  [[nodiscard]] std::byte* columns(std::byte* block) const noexcept { return block + columns_at_; }

  /// Writes all but the numbers.
  void write(std::byte* block) const noexcept {
    const window_block head{.boxes = count_ == 0 ? 0U : 2U};
    std::memcpy(block, &head, sizeof head);
    if (count_ == 0) return;
    window_box run[2];
    run[0] = {.place = window_box::in_block, .from = values_at, .unit = value_bytes_};
    run[1] = {.place = window_box::in_block,
              .from = static_cast<std::uint32_t>(columns_at_),
              .unit = column_bytes_};
    for (window_box& each : run) each.units = static_cast<std::uint32_t>(count_);
    std::memcpy(block + sizeof head, run, sizeof run);
  }

 private:
  static constexpr std::uint32_t values_at = sizeof(window_block) + 2 * sizeof(window_box);

  std::uint64_t count_;
  std::uint32_t value_bytes_;
  std::uint32_t column_bytes_;
  std::size_t columns_at_;
  std::size_t bytes_;
};

/// Reads the blocks, for any class of them. A block is a row.
class csr_reader {
 public:
  explicit csr_reader(std::shared_ptr<const csr_matrix> matrix)
      : matrix_{std::move(matrix)},
        max_count_{matrix_->max_count()},
        step_{.filter = block_filter::sparse_row,
              .element_bytes = static_cast<std::uint32_t>(size_bytes(matrix_->spec().type)),
              .sparse = matrix_->types()} {}

  [[nodiscard]] const csr_matrix& matrix() const noexcept { return *matrix_; }
  [[nodiscard]] std::uint64_t max_count() const noexcept { return max_count_; }
  [[nodiscard]] std::span<const block_step> steps() const noexcept { return {&step_, 1}; }
  [[nodiscard]] encoded_blocks::stored_block stored(std::uint64_t row) const noexcept {
    return {.bytes = layout_of(matrix_->count_of(sample_index{row})).bytes()};
  }
  [[nodiscard]] std::size_t max_stored_bytes() const noexcept {
    return layout_of(max_count_).bytes();
  }

  encoded_blocks::stored_block read(std::uint64_t row, std::span<std::byte> out) const {
    const block_layout layout = layout_of(matrix_->count_of(sample_index{row}));
    layout.write(out.data());
    gather(*matrix_->arrays().data, row, layout.values(out.data()));
    gather(*matrix_->arrays().indices, row, layout.columns(out.data()));
    return {.bytes = layout.bytes()};
  }

  void decode(std::span<const std::byte> bytes, std::span<std::byte> out) const {
    const auto none = [](const window_box&) { return static_cast<const std::byte*>(nullptr); };
    if (!make_dense(matrix_->types(), bytes, none, out))
      throw dataset_error{{.path = matrix_->arrays().indices->spec().path,
                           .field = matrix_->arrays().indices->spec().name},
                          "a row has a value in a column that the matrix does not have"};
  }

 private:
  [[nodiscard]] block_layout layout_of(std::uint64_t count) const noexcept {
    return {step_.sparse, count};
  }
  void gather(const array_source& from, std::uint64_t row, std::byte* out) const {
    thread_local box_list boxes;  // kept to avoid allocation
    boxes.clear();
    matrix_->add_box(sample_index{row}, size_bytes(from.spec().type), out, boxes);
    if (!boxes.empty()) from.read(boxes.boxes());
  }

  std::shared_ptr<const csr_matrix> matrix_;
  std::uint64_t max_count_;
  block_step step_;
};

/// Blocks with a row's values and columns.
template <class Base>
class csr_rows : public Base {
 public:
  using stored_block = encoded_blocks::stored_block;

  explicit csr_rows(csr_reader reader) : reader_{std::move(reader)} {}

  std::span<const block_step> steps(std::size_t /*field*/) const noexcept override {
    return reader_.steps();
  }
  stored_block stored(std::size_t /*field*/, std::uint64_t row) const noexcept override {
    return reader_.stored(row);
  }
  std::size_t max_stored_bytes(std::size_t /*field*/) const noexcept override {
    return reader_.max_stored_bytes();
  }
  stored_block read(std::size_t /*field*/, std::uint64_t row, std::span<std::byte> out,
                    const sample_context& /*context*/) const override {
    return reader_.read(row, out);
  }
  void decode(std::size_t /*field*/, std::span<const std::byte> bytes,
              const stored_block& /*stored*/, std::span<std::byte> out) const override {
    reader_.decode(bytes, out);
  }

 protected:
  [[nodiscard]] const csr_reader& reader() const noexcept { return reader_; }

 private:
  const csr_reader reader_;
};

class gathered_rows final : public csr_rows<encoded_blocks> {
 public:
  using csr_rows::csr_rows;
  std::uint64_t rows() const noexcept override { return 1; }
};

/// The same, but a device can also cut values and columns out of chunks.
class cut_rows final : public csr_rows<window_blocks> {
 public:
  cut_rows(csr_reader of, const encoded_array& data, const encoded_array& indices)
      : csr_rows{std::move(of)}, chunked_{&data, &indices} {
    const array_ptr sources[] = {reader().matrix().arrays().data,
                                 reader().matrix().arrays().indices};
    for (std::size_t i = 0; i < 2; ++i) {
      const array_spec& spec = sources[i]->spec();
      arrays_.push_back({.name = spec.name,
                         .chunks = divide_up(spec.shape[0], spec.chunk[0]),
                         .chunk_bytes = spec.chunk[0] * size_bytes(spec.type),
                         .max_chunks = chunks_of(spec, reader().max_count())});
      lengths_[i] = spec.chunk[0];
      element_bytes_[i] = static_cast<std::uint32_t>(size_bytes(spec.type));
    }
    chunks_ = std::make_shared<const array_chunks>(
        std::vector{chunked_[0]->encoded(), chunked_[1]->encoded()});
  }

  /// Whether rows can be cut so.
  [[nodiscard]] bool is_possible() const noexcept {
    return max_pieces(0) <= max_boxes && std::ranges::all_of(arrays_, [](const array& each) {
             return each.chunk_bytes <= max_bytes_of_block;
           });
  }

  bool is_window(std::size_t /*field*/) const noexcept override { return true; }
  std::span<const array> arrays() const noexcept override { return arrays_; }
  std::shared_ptr<const encoded_blocks> chunks() const override { return chunks_; }
  /// A run ends where a chunk of either array does.
  std::uint64_t max_pieces(std::size_t /*field*/) const noexcept override {
    return 2 * (arrays_[0].max_chunks + arrays_[1].max_chunks);
  }

  void cut(std::size_t /*field*/, sample_index row, const sample_context& /*context*/,
           recipe& out) const override {
    out.fills = 0;
    out.pieces.clear();
    const std::uint64_t begin = reader().matrix().begin_of(row);
    const std::uint64_t end = begin + reader().matrix().count_of(row);
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t run_end = std::min(
          {end, (at / lengths_[0] + 1) * lengths_[0], (at / lengths_[1] + 1) * lengths_[1]});
      for (std::uint32_t i = 0; i < 2; ++i) out.pieces.push_back(run_of(i, at, run_end - at));
      at = run_end;
    }
  }

 private:
  /// No run of values is in more chunks.
  [[nodiscard]] static std::uint64_t chunks_of(const array_spec& spec, std::uint64_t count) {
    const std::uint64_t all = divide_up(spec.shape[0], spec.chunk[0]);
    return count == 0 ? 1 : std::min(all, (count + spec.chunk[0] - 2) / spec.chunk[0] + 1);
  }

  [[nodiscard]] piece run_of(std::uint32_t number, std::uint64_t at, std::uint64_t count) const {
    const std::uint64_t chunk = at / lengths_[number];
    const bool is_written = chunked_[number]->is_written(chunk);
    piece made{is_written ? chunk : no_chunk, {.field = number}};
    made.box.from =
        static_cast<std::uint32_t>((at - chunk * lengths_[number]) * element_bytes_[number]);
    made.box.unit = element_bytes_[number];
    made.box.units = static_cast<std::uint32_t>(count);
    if (is_written) return made;
    made.box.place = window_box::no_chunk;
    made.box.from = 0;
    std::memcpy(made.box.fill, chunked_[number]->fill().data(), made.box.unit);
    return made;
  }

  const encoded_array* chunked_[2];
  std::uint64_t lengths_[2] = {};  ///< elements of a chunk
  std::uint32_t element_bytes_[2] = {};
  std::vector<array> arrays_ = {};
  std::shared_ptr<const encoded_blocks> chunks_;
};

/// The array's chunks, if devices may decode them; else null.
const encoded_array* chunked(const array_ptr& array) {
  const auto* const found = dynamic_cast<const encoded_array*>(array.get());
  return found != nullptr && found->encoded() != nullptr ? found : nullptr;
}

}  // namespace

std::shared_ptr<const encoded_blocks> make_csr_blocks(std::shared_ptr<const csr_matrix> matrix) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max() / 16;
  csr_reader reader{std::move(matrix)};
  if (reader.max_count() > most || reader.max_stored_bytes() > max_bytes_of_block ||
      sample_bytes(reader.matrix().spec()) > max_bytes_of_block)
    return nullptr;
  const csr_arrays& arrays = reader.matrix().arrays();
  const encoded_array* const data = chunked(arrays.data);
  const encoded_array* const indices = chunked(arrays.indices);
  if (data != nullptr && indices != nullptr) {
    auto made = std::make_shared<const cut_rows>(reader, *data, *indices);
    if (made->is_possible()) return made;
  }
  return std::make_shared<const gathered_rows>(std::move(reader));
}

}  // namespace feedline::detail
