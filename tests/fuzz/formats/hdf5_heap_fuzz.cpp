/// Fuzz target of the search for values of variable length in an HDF5 file's global heap: any bytes
/// are values that it finds within the file, or a hdf5_metadata_error. The same holds for the
/// search for a cache image. An input is the size of an element, in one byte, how many rows there
/// are, in another, the rows as a dataset has them, then the file.

#include "hdf5/format/heap_search.hpp"
#include "hdf5/format/metadata.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

using namespace feedline::detail;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "hdf5_heap_fuzz: does not hold: %s\n", what);
  std::abort();
}

std::optional<hdf5_value_places> places_of(std::span<const std::byte> file,
                                           std::span<const std::byte> rows,
                                           std::size_t element_bytes) {
  try {
    hdf5_metadata metadata{file};
    hdf5_heap_search search{metadata, element_bytes};
    search.add(rows);
    return search.find();
  } catch (const hdf5_heap_error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
    require(error.value() < rows.size() / hdf5_heap_search::row_bytes(2),
            "an error names one of the values");
  } catch (const hdf5_metadata_error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
  }
  return std::nullopt;
}

void look_for_cache_image(std::span<const std::byte> file) {
  try {
    hdf5_metadata metadata{file};
    (void)has_cache_image(metadata);
  } catch (const hdf5_metadata_error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  if (bytes.size() < 2) return 0;
  const auto element_bytes = std::size_t{1} + std::to_integer<std::size_t>(bytes[0]);
  const auto values = std::to_integer<std::size_t>(bytes[1]);
  const auto rows_and_file = bytes.subspan(2);
  // The file itself says how large a row is. Rows of another size, which whoever opens a file
  // refuses, are tried as well.
  std::size_t row_bytes = hdf5_heap_search::row_bytes(8);
  bool is_fit = false;
  for (const std::size_t offset_bytes : {2U, 4U, 8U}) {
    const std::size_t rows = values * hdf5_heap_search::row_bytes(offset_bytes);
    if (rows > rows_and_file.size()) break;
    try {
      if (hdf5_metadata{rows_and_file.subspan(rows)}.offset_bytes() != offset_bytes) continue;
      row_bytes = hdf5_heap_search::row_bytes(offset_bytes);
      is_fit = true;
      break;
    } catch (const hdf5_metadata_error&) {
      continue;
    }
  }
  if (values * row_bytes > rows_and_file.size()) return 0;
  const auto rows = rows_and_file.first(values * row_bytes);
  const auto file = rows_and_file.subspan(rows.size());
  look_for_cache_image(file);

  const auto places = places_of(file, rows, element_bytes);
  if (!places || !is_fit) return 0;
  require(places->offsets.size() == values && places->lengths.size() == values,
          "there is a place for each row");
  for (std::size_t i = 0; i < values; ++i) {
    const std::uint64_t value_bytes = places->lengths[i] * std::uint64_t{element_bytes};
    require(value_bytes <= file.size() && places->offsets[i] <= file.size() - value_bytes,
            "places lie within the file");
    const auto alone = places_of(file, rows.subspan(i * row_bytes, row_bytes), element_bytes);
    require(
        alone && alone->offsets[0] == places->offsets[i] && alone->lengths[0] == places->lengths[i],
        "what is found together is found alone, in the same place");
  }
  return 0;
}
