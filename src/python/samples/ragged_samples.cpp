#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/ragged/dataset.hpp>

#include "python/bindings.hpp"
#include "python/datasets/arrays.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/samples/ragged_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

/// Most bytes of padded samples that a thread reads at once, unless one sample has more.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// Padded samples without their padding, whose lengths are known.
class ragged_samples final : public ragged_dataset {
 public:
  /// @param padded Fields NAME and NAME_length, as a `sequence_dataset` with `pad` has them.
  /// @param lengths For each sample: its number of elements, which its NAME_length must confirm.
  ragged_samples(dataset_ptr padded, std::vector<std::uint64_t> lengths)
      : padded_{std::move(padded)},
        lengths_{std::move(lengths)},
        element_{padded_->fields().front()} {
    row_bytes_ = sample_bytes(element_);
    const std::uint64_t longest = element_.shape.front();
    element_.shape.erase(element_.shape.begin());
    element_bytes_ = sample_bytes(element_);
    if (lengths_.size() != padded_->size())
      throw usage_error{"lengths has " + std::to_string(lengths_.size()) + " numbers for " +
                        std::to_string(padded_->size()) + " samples"};
    if (const auto most = std::ranges::max_element(lengths_); *most > longest)
      throw usage_error{"sample " + std::to_string(most - lengths_.begin()) + " has length " +
                        std::to_string(*most) + ", and is padded to " + std::to_string(longest)};
  }

  std::uint64_t size() const override { return lengths_.size(); }
  field element() const override { return element_; }
  std::uint64_t length(sample_index sample) const override { return lengths_[sample.value]; }
  read_concurrency concurrency() const override { return padded_->concurrency(); }
  unsigned reads_in_processes() const override { return padded_->reads_in_processes(); }

 private:
  void do_read(std::span<const element_run> runs) const override {
    const std::size_t most = std::max<std::size_t>(piece_bytes / row_bytes_, 1);
    for (std::size_t first = 0; first < runs.size(); first += most)
      read_piece(runs.subspan(first, std::min(most, runs.size() - first)));
  }

  void read_piece(std::span<const element_run> runs) const {
    std::vector<sample_index> samples;
    for (const element_run& run : runs) samples.push_back(run.sample);
    std::vector<std::byte> rows(samples.size() * row_bytes_);
    std::vector<std::int32_t> found(samples.size());
    const std::array<std::span<std::byte>, 2> out{std::span{rows},
                                                  std::as_writable_bytes(std::span{found})};
    padded_->read({samples, out, read_context{samples}});
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::uint64_t sample = samples[i].value;
      if (static_cast<std::uint64_t>(found[i]) != lengths_[sample])
        throw dataset_error{{.path = {}, .field = element_.name, .sample = sample},
                            "has " + std::to_string(found[i]) + " elements, and lengths says " +
                                std::to_string(lengths_[sample]) +
                                ": lengths must be those of the samples, which never change"};
      if (!runs[i].out.empty())
        std::memcpy(runs[i].out.data(),
                    rows.data() + i * row_bytes_ + runs[i].first * element_bytes_,
                    runs[i].out.size());
    }
  }

  dataset_ptr padded_;
  std::vector<std::uint64_t> lengths_;
  field element_;
  std::size_t row_bytes_ = 0;
  std::size_t element_bytes_ = 0;
};

/// @param columns For each ragged field: name, lengths, capacity, padding.
dataset_object rows_of(const dataset_object& padded, const nb::list& columns, bool packs,
                       std::uint64_t max_samples, bool truncates) {
  std::vector<ragged_column> each;
  for (const nb::handle one : columns) {
    ragged_column made{.name = nb::cast<std::string>(one[0]),
                       .lengths = numbers<std::uint64_t>(one[1]),
                       .capacity = nb::cast<std::uint64_t>(one[2])};
    if (nb::isinstance<nb::float_>(one[3])) {
      made.value = nb::cast<double>(one[3]);
    } else {
      made.value = nb::cast<std::int64_t>(one[3]);
    }
    each.push_back(std::move(made));
  }
  return composed(interruptible([=, of = padded.of]() -> dataset_ptr {
                    return std::make_shared<const ragged_rows>(
                        of, each, ragged_rows::options{packs, max_samples, truncates});
                  }),
                  padded);
}

}  // namespace

void bind_ragged_samples(nb::module_& module) {
  module.def(
      "_ragged_samples",
      [](const dataset_object& padded, nb::handle lengths) {
        return ragged_object{
            std::make_shared<const ragged_samples>(padded.of, numbers<std::uint64_t>(lengths)),
            padded.held};
      },
      "padded"_a, "lengths"_a);
  module.def("_ragged_rows", &rows_of, "padded"_a, "columns"_a, nb::kw_only(), "packs"_a,
             "max_samples"_a, "truncates"_a);
}

}  // namespace feedline::python
