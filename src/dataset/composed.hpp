#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Rethrows an exception of a dataset inside another one, in the outer one's terms: path, field,
/// offset and message are kept, the sample becomes the outer dataset's, and the message names the
/// inner dataset and its sample. The original is nested (`std::rethrow_if_nested`), so its type is
/// not lost. Call it in the handler of `inner`.
/// @param sample Index in the outer dataset; nothing if unknown.
/// @param what   Names the inner dataset: "part 1 of a concatenation".
[[noreturn]] inline void rethrow_as(const dataset_error& inner, std::optional<std::uint64_t> sample,
                                    const std::string& what) {
  dataset_location where = inner.where();
  where.sample = sample;
  const std::string place =
      inner.sample() ? "sample " + std::to_string(*inner.sample()) + " of " + what : what;
  std::throw_with_nested(dataset_error{std::move(where), inner.message() + " (" + place + ")"});
}

/// The message of the exception that is being handled.
[[nodiscard]] inline std::string current_words() {
  try {
    throw;
  } catch (const std::exception& cause) {
    return cause.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// The chunks of a dataset as seen by one that holds its samples at other indices, in groups of
/// `samples`, which are treated as chunks there.
///
/// A group that begins and ends where chunks do consists of whole chunks. Any other group touches
/// one chunk more than its size would need: it counts the memory of all of these, so fewer groups
/// are kept. That is never less than the actual cost of reading: an order that relies on it reads
/// no chunk more often than there are groups on the chunk, two if all are of one size.
/// @param first   A sample of the dataset with which one of the groups begins.
/// @param samples At least 1; no fewer than a chunk's.
[[nodiscard]] inline chunking regrouped(const chunking& chunks, std::uint64_t first,
                                        std::uint64_t samples) noexcept {
  if (chunks.samples <= 1) return {};
  const bool whole = first % chunks.samples == 0 && samples % chunks.samples == 0;
  const std::uint64_t touched = divide_up(samples, chunks.samples) + (whole ? 0 : 1);
  const auto bytes = checked_multiply<std::uint64_t>(chunks.bytes, touched);
  return {
      .samples = samples,
      .bytes = static_cast<std::size_t>(bytes.value_or(std::numeric_limits<std::size_t>::max())),
      .kept = chunks.kept / touched};
}

// Fields that devices make (`has_made_fields`) of the datasets that another one is made of.

/// @return Empty: the dataset has no such fields.
[[nodiscard]] inline std::vector<made_field> made_fields_of(const dataset& of) {
  const auto* const made = dynamic_cast<const has_made_fields*>(&of);
  return made == nullptr ? std::vector<made_field>{} : made->made_fields();
}

[[nodiscard]] inline std::string made_note_of(const dataset& of) {
  const auto* const made = dynamic_cast<const has_made_fields*>(&of);
  return made == nullptr ? std::string{} : made->made_note();
}

/// Adds a note to others, unless it is empty or one of them.
inline void add_made_note(std::string& notes, std::string_view note) {
  if (note.empty() || notes.find(note) != std::string::npos) return;
  if (!notes.empty()) notes += "; ";
  notes += note;
}

/// The notes of all parts.
[[nodiscard]] inline std::string made_note_of(std::span<const dataset_ptr> parts) {
  std::string notes;
  for (const dataset_ptr& part : parts) add_made_note(notes, made_note_of(*part));
  return notes;
}

/// The names of such fields: "'token_position', 'token_mask'".
[[nodiscard]] inline std::string made_names(const std::vector<made_field>& made,
                                            const std::vector<field>& fields) {
  std::string names;
  for (const made_field& each : made)
    names += (names.empty() ? "'" : ", '") + fields[each.place].name + '\'';
  return names;
}

/// Such fields of datasets that all have the same fields.
struct parts_made {
  std::vector<made_field> all = {};   ///< fields that a device can make for each dataset
  std::vector<made_field> some = {};  ///< fields that it can make for some datasets only
};

[[nodiscard]] inline parts_made made_fields_of(std::span<const dataset_ptr> parts) {
  const auto has = [](const std::vector<made_field>& fields, const made_field& one) {
    return std::ranges::find(fields, one) != fields.end();
  };
  parts_made made{.all = made_fields_of(*parts.front())};
  for (const dataset_ptr& part : parts) {
    const std::vector<made_field> own = made_fields_of(*part);
    for (const made_field& each : own)
      if (!has(made.some, each)) made.some.push_back(each);
    std::erase_if(made.all, [&](const made_field& each) { return !has(own, each); });
  }
  std::erase_if(made.some, [&](const made_field& each) { return has(made.all, each); });
  return made;
}

}  // namespace feedline::detail
