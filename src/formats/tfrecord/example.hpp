#pragma once

#include "formats/tfrecord/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

// The messages tf.train.Example and tf.train.SequenceExample, read where they are. No function
// copies a value but `write_values`. All throw a dataset_error without a location if a message is
// damaged.

namespace feedline::detail {

/// The kind of a feature's values; `none`: the feature has no list at all.
enum class feature_kind : std::uint8_t { none, bytes, floats, integers };

/// "bytes", "float", "int64".
[[nodiscard]] std::string_view name_of(feature_kind kind) noexcept;

/// tf.train.Feature: values of one kind.
struct feature_view {
  feature_kind kind = feature_kind::none;
  std::span<const std::byte> list = {};  ///< the message of the list
};

[[nodiscard]] feature_view read_feature(std::span<const std::byte> message);

[[nodiscard]] std::uint64_t count_values(const feature_view& of);

/// Writes the first numbers, int64 or float in the machine's byte order, as many as fit.
/// @param of Its kind is a number. @param out A whole number of values.
void write_values(const feature_view& of, std::span<std::byte> out);

/// The first value of a feature of bytes that has one.
[[nodiscard]] std::span<const std::byte> first_bytes(const feature_view& of);

/// Calls `use` for each feature of each step of a tf.train.FeatureList.
void for_each_step(std::span<const std::byte> list,
                   const std::function<void(const feature_view&)>& use);

/// A feature, or a list of features, as a record has it.
struct named_feature {
  std::string_view name;
  bool is_sequence;                    ///< a list, of a SequenceExample
  std::span<const std::byte> message;  ///< for `read_feature`, or for `for_each_step`
};

/// Calls `use` for all features of an Example, or of the context and the lists of a
/// SequenceExample, in stored order. A name may come again; protocol buffers take the last.
void for_each_feature(std::span<const std::byte> record,
                      const std::function<void(const named_feature&)>& use);

}  // namespace feedline::detail
