#pragma once

#include <feedline/dataset/read_request.hpp>

#include "python/interpreter/held_object.hpp"
#include "python/samples/values.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::python {

/// Makes samples by calling Python, on a reader thread or in a worker process. Any thread with the
/// interpreter's lock.
class sample_maker {
 public:
  /// @param get Called with a sample's index.
  /// @param get_all Called with a list of indices, and returns a list of samples; None: `get` is
  /// called for each.
  /// @param seed Called before `get` with a number that depends on the loader's seed, the epoch and
  /// the sample alone; None: `sample_info` is refused. With it `get_all` is not called.
  /// @param among Gets the Python objects that this holds.
  sample_maker(nb::object get, nb::object get_all, sample_values values, nb::object seed,
               held_objects& among);

  [[nodiscard]] const sample_values& values() const noexcept { return values_; }
  /// Whether `get_all` is called.
  [[nodiscard]] bool makes_together() const noexcept {
    return !get_all_.get().is_none() && !is_seeded();
  }
  [[nodiscard]] bool is_seeded() const noexcept { return !seed_.get().is_none(); }

  /// Makes samples, and writes their values.
  /// @param begins Called with each sample's index in the request, before it is made; with 0 before
  /// all are made together.
  /// @throws As `sample_values::write`, about the sample that was begun last.
  template <class Begins>
  void make(const read_request& request, Begins&& begins) const {
    if (!request.samples.empty()) begins(0);
    const nb::object all = made_together(request.samples);
    std::vector<std::byte*> rows(request.out.size());
    for (std::size_t place = 0; place < request.samples.size(); ++place) {
      begins(place);
      for (std::size_t field = 0; field < rows.size(); ++field)
        rows[field] = request.out[field].data() + place * values_.row_bytes()[field];
      const std::uint64_t sample = request.samples[place].value;
      const nb::object values =
          all.is_valid() ? nb::object{all[place]} : make_one(sample, request.context[place]);
      values_.write(values, sample, rows);
    }
  }
  /// Calls the function for one sample, without seeding. @param is_seeded Whether it may ask for
  /// `sample_info`.
  [[nodiscard]] static nb::object call(nb::handle get, bool is_seeded, std::uint64_t sample,
                                       const sample_context& context);

 private:
  [[nodiscard]] nb::object made_together(std::span<const sample_index> samples) const;
  [[nodiscard]] nb::object make_one(std::uint64_t sample, const sample_context& context) const;

  held_object get_;
  held_object get_all_;
  sample_values values_;
  held_object seed_;
};

}  // namespace feedline::python
