#include <feedline/error.hpp>
#include <feedline/formats/parquet.hpp>

#include "formats/open/format_entry.hpp"
#include "formats/parquet/folder.hpp"
#include "formats/parquet/listing.hpp"
#include "io/file_magic.hpp"

#include <array>

namespace feedline::detail {
namespace {

constexpr std::array<unsigned char, 4> parquet_signature{'P', 'A', 'R', '1'};

parquet_options parquet_options_of(const open_options& options) {
  return {.fields = options.fields,
          .image = make_image_decoder(options.image),
          .pad = options.pad,
          .fill_nulls = options.fill_nulls};
}

}  // namespace

format_entry parquet_format() {
  return {.name = "parquet",
          .known_as = "Parquet files",
          .is = [](const probed_file& file) { return begins_with(file.head, parquet_signature); },
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_parquet(paths, parquet_options_of(options));
              },
          .list =
              [](const std::string& file, const open_options& options) {
                return list_parquet(file, parquet_options_of(options));
              },
          .is_folder = is_parquet_folder,
          .takes_pad = true,
          .takes_fill_nulls = true};
}

}  // namespace feedline::detail

#ifndef FEEDLINE_HAS_PARQUET

namespace {

[[noreturn]] void refuse_parquet(const std::vector<std::string>& files) {
  throw feedline::dataset_error{
      {.path = files.empty() ? "" : files.front(), .field = {}},
      "a Parquet file, and this feedline was built without Arrow's C++ libraries; install them "
      "(libarrow-dev and libparquet-dev of Apache's packages, or the wheel pyarrow), and build "
      "feedline again with FEEDLINE_PARQUET=ON"};
}

}  // namespace

namespace feedline::detail {

std::vector<listed_field> list_parquet(const std::string& file, const parquet_options&) {
  refuse_parquet({file});
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_parquet(const std::vector<std::string>& files, const parquet_options&) {
  refuse_parquet(files);
}

ragged_dataset_ptr open_parquet_ragged(const std::vector<std::string>& files, const std::string&,
                                       const parquet_options&) {
  refuse_parquet(files);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

#endif
