#include <feedline/arrays/csr.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>

#include "formats/npy/npz_file.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// The format of the sparse matrix that `scipy.sparse.save_npz` wrote: "csr", "coo", …; empty if
/// the archive has no such matrix, but perhaps members of these names that mean something else.
std::string sparse_format(const npz_file& file) {
  if (!file.has_members({"data", "format", "shape"})) return {};
  std::string format = file.three_letters("format");
  const bool has_rows = format == "csr" || format == "csc" || format == "bsr";
  if (has_rows && file.has_members({"indices", "indptr"})) return format;
  const bool has_places = file.has_members({"row", "col"}) || file.has_members({"coords"});
  if (format == "coo" && has_places) return format;
  if (format == "dia" && file.has_members({"offsets"})) return format;
  return {};
}

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_npz(const std::string& file, const std::vector<std::string>& members,
                     const npz_options& options) {
  return detail::npz_file{file, options}.open(members);
}

array_ptr open_npz_array(const std::string& file, const std::string& member) {
  return detail::npz_file{file, {}}.array(member);
}

dataset_ptr open_npz_csr(const std::string& file, std::string field_name) {
  const detail::npz_file archive{file, {}};
  const std::string format = detail::sparse_format(archive);
  if (format.empty())
    throw archive.error(
        "holds no sparse matrix: its members are not those of scipy.sparse.save_npz, which for "
        "'csr' "
        "are data, indices, indptr, shape, and the text format");
  if (format != "csr")
    throw archive.error("holds a sparse matrix of the format '" + format +
                        "', but rows are read from 'csr'; save matrix.tocsr()");
  std::array<std::int64_t, 2> shape{};
  const array_ptr stored = archive.array("shape");
  if (stored->spec().type != element_type::i64 ||
      stored->spec().shape != std::vector<std::uint64_t>{2})
    throw archive.error("its member shape is " + to_string(stored->spec()) +
                        ", but should be two int64; save it by scipy.sparse.save_npz");
  stored->read_all(std::as_writable_bytes(std::span{shape}));
  if (shape[1] < 1)
    throw archive.error("claims a matrix of " + std::to_string(shape[1]) + " columns");
  return make_csr_dataset(std::move(field_name), {.data = archive.array("data"),
                                                  .indices = archive.array("indices"),
                                                  .indptr = archive.array("indptr"),
                                                  .columns = static_cast<std::uint64_t>(shape[1])});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

namespace feedline::detail {

std::vector<listed_field> list_npz(const std::string& file, const std::string& matrix_name) {
  const npz_file archive{file, {}};
  std::vector<listed_field> listed = archive.list_fields();
  if (sparse_format(archive) != "csr") return listed;
  const dataset_ptr rows = open_npz_csr(file, matrix_name);
  for (listed_field& each : listed) {
    each = listed_field{.name = each.name,
                        .left_out = "a part of the sparse matrix '" + matrix_name + '\''};
  }
  listed.insert(listed.begin(),
                {.name = matrix_name, .samples = rows->size(), .spec = rows->fields().front()});
  return listed;
}

dataset_ptr open_whole_npz(const std::string& file, const std::vector<std::string>& fields,
                           const std::string& matrix_name) {
  const bool is_matrix = fields.empty() || fields == std::vector{matrix_name};
  if (!is_matrix || sparse_format(npz_file{file, {}}).empty()) return open_npz(file, fields);
  return open_npz_csr(file, matrix_name);
}

}  // namespace feedline::detail
