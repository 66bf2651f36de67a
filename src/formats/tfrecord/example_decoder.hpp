#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "formats/tfrecord/survey.hpp"

#include <vector>

namespace feedline::detail {

/// Decodes tf.train.Example and tf.train.SequenceExample to these fields.
[[nodiscard]] record_decoder_ptr make_example_decoder(std::vector<example_field> fields);

}  // namespace feedline::detail
