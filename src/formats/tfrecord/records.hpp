#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/formats/tfrecord.hpp>

#include "formats/tfrecord/survey.hpp"
#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// The records of TFRecord files, file after file; the checksum of each is checked when it is read.
/// @param index_folder Same as `tfrecord_options::index_folder`.
/// @throws dataset_error as `index_tfrecord`; also if there is no record.
[[nodiscard]] coded_values_ptr make_tfrecord_values(std::vector<byte_file_ptr> files,
                                                    const std::string& index_folder = {});

/// Records with the fields that were chosen for them.
struct opened_examples {
  coded_values_ptr records;
  record_decoder_ptr by;
  example_survey survey;  ///< empty if the options have a decoder of records
};

/// Chooses the fields of records. @param who Begins messages about options: "open_tfrecord".
/// @throws as `open_tfrecord`.
[[nodiscard]] opened_examples describe_examples(std::string_view who, coded_values_ptr records,
                                                const tfrecord_options& options);
/// The same of files.
[[nodiscard]] opened_examples open_examples(const std::vector<byte_file_ptr>& files,
                                            const tfrecord_options& options);

/// The dataset of these records. @throws as `open_tfrecord`.
[[nodiscard]] dataset_ptr make_examples_dataset(std::string_view who, const opened_examples& of,
                                                const tfrecord_options& options);

/// The result of `list_fields` for these records. Ragged fields are listed without padding, so no
/// pass over all records is made.
[[nodiscard]] std::vector<listed_field> list_examples(const opened_examples& of);

/// Opens files by patterns. @throws usage_error if there is none.
[[nodiscard]] std::vector<byte_file_ptr> open_record_files(
    std::string_view who, const std::vector<std::string>& patterns);

}  // namespace feedline::detail
