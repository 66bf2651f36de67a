#pragma once

#include <feedline/dataset/read_context.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A read of several samples: their indices, their destinations, and the loader's samples that they
/// are read for. It borrows its arrays, so it is valid only during the call that it is passed to.
///
/// A dataset that reads another one makes a request with the other's sample numbers, or with other
/// destinations, and passes the context on:
///
///     void do_read(const feedline::read_request& request) const override {
///       of_->read({.samples = own_numbers, .out = request.out, .context = request.context});
///     }
///
/// If it reads only some of the samples, it passes on `request.context.part(first, count)`.
struct read_request {
  /// Indices of the samples, in the wanted order; each less than the `size()` of the dataset that
  /// is read; may repeat; may be empty.
  std::span<const sample_index> samples;
  /// Destinations: for each field, in `fields()` order, `samples.size() × sample_bytes(field,
  /// context.size())` bytes. The value of `samples[i]` goes to row i.
  std::span<const std::span<std::byte>> out;
  /// One entry for each element of `samples`: the loader's sample for which it is read, with seed,
  /// epoch, position in the loader's order, and random numbers that depend on these alone.
  /// Outside of a loader: `read_context{samples}`, which has no epoch.
  read_context context;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
