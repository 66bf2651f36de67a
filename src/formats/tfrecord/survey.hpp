#pragma once

#include <feedline/formats/tfrecord.hpp>

#include "formats/left_out.hpp"
#include "formats/tfrecord/example.hpp"
#include "ragged/coded_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A field that is made of a feature.
struct example_field {
  std::string feature;       ///< its name in records
  bool is_sequence = false;  ///< a list of a SequenceExample
  feature_kind kind = feature_kind::none;
  decoder_ptr by = nullptr;  ///< decodes a value of bytes
  described_field as = {};
};

/// The fields of tf.train.Example records.
struct example_survey {
  std::vector<example_field> fields;  ///< in the order in which they come
  std::vector<left_out_field> left_out;
  std::size_t looked_at = 0;  ///< number of records
};

/// Looks at records that are spread evenly over all of them, and chooses fields.
/// @param who Begins messages about options: "open_tfrecord".
/// @throws dataset_error if one is damaged or no field is found; usage_error about
/// `tfrecord_options::features`.
[[nodiscard]] example_survey survey_examples(std::string_view who, const coded_values& records,
                                             const tfrecord_options& options);

}  // namespace feedline::detail
