/// Fuzz target of the IDX reader: any bytes are an IDX file or a dataset_error that says where, and
/// how the bytes come (a file, a pipe, compressed) changes nothing about which of the two.

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "formats/idx/array.hpp"
#include "io/gzip_source.hpp"
#include "support/files/idx_bytes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "idx_fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Bytes whose number is not known before the end, as a pipe's.
class pipe_source final : public detail::byte_source {
 public:
  explicit pipe_source(std::span<const std::byte> bytes) : bytes_{bytes} {}
  std::size_t read(std::span<std::byte> into) override { return bytes_.read(into); }
  std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  detail::memory_source bytes_;
};

std::optional<detail::idx_array> read(detail::byte_source& source) {
  try {
    return detail::read_idx(source, {"fuzz.idx", "x"});
  } catch (const dataset_error& error) {
    require(error.path() == "fuzz.idx" && error.field() == "x", "an error names file and field");
    require(error.offset().has_value(), "an error names the byte");
    require(!error.message().empty(), "an error says what is wrong");
    return std::nullopt;
  }
}

bool same(const std::optional<detail::idx_array>& a, const std::optional<detail::idx_array>& b) {
  if (!a || !b) return !a && !b;
  const auto x = a->elements.bytes();
  const auto y = b->elements.bytes();
  return a->header.describe() == b->header.describe() &&
         std::equal(x.begin(), x.end(), y.begin(), y.end());
}

/// An array that was read serves as a dataset, from its first sample to its last.
void require_readable(const detail::idx_array& array) {
  require(array.elements.bytes().size() == array.header.payload_bytes, "as long as announced");
  const auto dataset = make_memory_dataset({array.header.to_field("x", array.elements)});
  require(dataset->size() == array.header.extents[0], "as many samples as announced");
  const std::vector<sample_index> ends{{dataset->size() - 1}, {0}};
  std::vector<std::byte> rows(2 * sample_bytes(dataset->fields()[0]));
  const std::span<std::byte> out{rows};
  dataset->read(ends, {&out, 1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  detail::memory_source file{bytes};
  const auto from_file = read(file);
  if (from_file) require_readable(*from_file);

  pipe_source pipe{bytes};
  require(same(from_file, read(pipe)), "a pipe reads as a file");

  if (!detail::is_gzip(bytes)) {
    const auto packed = test::gzip_bytes(bytes);
    detail::memory_source compressed{packed};
    require(same(from_file, read(compressed)), "compressed reads as plain");
  }
  return 0;
}
