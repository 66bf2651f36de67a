#include <feedline/dataset/map.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed.hpp"
#include "dataset/foreign_error.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/arithmetic.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <concepts>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// The transform's input is read in pieces of about this size, which stay in a core's cache between
/// the read and the transform; a piece is at least one sample.
constexpr std::size_t input_piece_bytes = std::size_t{256} << 10;

/// Where each field's values begin in a piece, as memory for rows does: enough for any element type
/// and vector instruction.
constexpr std::size_t buffer_alignment = 64;

/// @tparam Transform `sample_transform`, or `sample_augmentation`.
template <class Transform>
class mapped_dataset final : public dataset, public has_made_fields {
 public:
  mapped_dataset(dataset_ptr of, std::vector<std::size_t> in_row_bytes, std::vector<field> fields,
                 std::vector<std::size_t> out_row_bytes, Transform transform)
      : of_{std::move(of)},
        in_row_bytes_{std::move(in_row_bytes)},
        fields_{std::move(fields)},
        out_row_bytes_{std::move(out_row_bytes)},
        transform_{std::move(transform)} {
    std::size_t bytes = 0;
    for (const std::size_t row : in_row_bytes_) bytes += row;
    piece_samples_ = std::max<std::size_t>(1, input_piece_bytes / bytes);
  }

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return fields_; }
  read_concurrency concurrency() const override { return of_->concurrency(); }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  bool varies_by_epoch() const override { return uses_context || of_->varies_by_epoch(); }
  chunking chunks() const override { return of_->chunks(); }
  std::vector<made_field> made_fields() const override { return {}; }
  std::string made_note() const override {
    std::string notes = detail::made_note_of(*of_);
    if (const auto made = detail::made_fields_of(*of_); !made.empty())
      detail::add_made_note(notes, detail::made_names(made, of_->fields()) +
                                       ": the function of a map is given them by readers");
    return notes;
  }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

 private:
  // A few allocations a run, none a sample.
  void do_read(const read_request& request) const override {
    const auto& [samples, out, context] = request;
    if (samples.empty()) return;
    const std::size_t most = std::min(piece_samples_, samples.size());
    std::vector<std::size_t> begins{0};
    for (const std::size_t row : in_row_bytes_)
      begins.push_back(begins.back() + detail::round_up(row * most, buffer_alignment));
    const detail::row_storage piece{begins.back()};
    std::vector<std::span<std::byte>> columns(in_row_bytes_.size());
    std::vector<std::span<const std::byte>> in(in_row_bytes_.size());
    std::vector<std::span<std::byte>> to(out_row_bytes_.size());
    for (std::size_t first = 0; first < samples.size(); first += most) {
      const auto run = samples.subspan(first, std::min(most, samples.size() - first));
      for (std::size_t f = 0; f < columns.size(); ++f)
        columns[f] = piece.bytes().subspan(begins[f], run.size() * in_row_bytes_[f]);
      of_->read({run, columns, context.part(first, run.size())});
      for (std::size_t i = 0; i < run.size(); ++i) {
        for (std::size_t f = 0; f < in.size(); ++f)
          in[f] = columns[f].subspan(i * in_row_bytes_[f], in_row_bytes_[f]);
        for (std::size_t f = 0; f < to.size(); ++f)
          to[f] = out[f].subspan((first + i) * out_row_bytes_[f], out_row_bytes_[f]);
        transform_one(run[i], in, to, context, first + i);
      }
    }
  }

  static constexpr bool uses_context = std::same_as<Transform, sample_augmentation>;

  /// An exception of a transform is about the sample that it was given, whether it says so or not.
  void transform_one(sample_index sample, std::span<const std::span<const std::byte>> in,
                     std::span<const std::span<std::byte>> out, const read_context& context,
                     std::size_t place) const {
    try {
      if constexpr (uses_context) {
        transform_(sample, in, out, context[place]);
      } else {
        transform_(sample, in, out);
      }
    } catch (const dataset_error&) {
      std::throw_with_nested(failure<dataset_error>(sample));
    } catch (...) {
      std::throw_with_nested(failure<detail::foreign_error>(sample));
    }
  }

  template <class Error>
  static Error failure(sample_index sample) {
    return {{.path = {}, .field = {}, .sample = sample.value},
            "the map's transform threw: " + detail::current_words()};
  }

  dataset_ptr of_;
  std::vector<std::size_t> in_row_bytes_;
  std::vector<field> fields_;
  std::vector<std::size_t> out_row_bytes_;
  Transform transform_;
  std::size_t piece_samples_ = 1;
};

/// @param transform A function of either kind.
template <class Transform>
dataset_ptr make_map(dataset_ptr of, std::vector<field> fields, Transform transform) {
  if (!of) throw usage_error{"map: the dataset is null"};
  if (!transform) throw usage_error{"map: the transform is empty"};
  if (detail::any_by_batch(fields) || detail::any_by_batch(of->fields()))
    throw usage_error{
        "map: the size of a field's images differs from batch to batch (field::by_batch), but a "
        "map's function is given values of one size: select() the other fields and map them, then "
        "zip() both; or let the images be of one size"};
  std::vector<std::size_t> out_row_bytes = detail::checked_row_bytes("map", fields);
  std::vector<std::size_t> in_row_bytes = detail::checked_row_bytes("map", of->fields());
  return std::make_shared<const mapped_dataset<Transform>>(
      std::move(of), std::move(in_row_bytes), std::move(fields), std::move(out_row_bytes),
      std::move(transform));
}

}  // namespace

dataset_ptr map(dataset_ptr of, std::vector<field> fields, sample_transform transform) {
  return make_map(std::move(of), std::move(fields), std::move(transform));
}

dataset_ptr map(dataset_ptr of, std::vector<field> fields, sample_augmentation transform) {
  return make_map(std::move(of), std::move(fields), std::move(transform));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
