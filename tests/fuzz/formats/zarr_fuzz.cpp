/// Fuzz target of Zarr's metadata, chunks and indexes of shards: any bytes are rows or an error of
/// feedline. The first byte says the version; the text up to the first zero is the array's
/// document, and the rest is every object that the array has.

#include <feedline/error.hpp>

#include "formats/zarr/blocks.hpp"
#include "formats/zarr/metadata.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace feedline::detail;

/// A store that has the first object of the array alone, whatever its key is.
class one_object final : public zarr_store {
 public:
  explicit one_object(std::span<const std::byte> bytes)
      : zarr_store{"store"}, bytes_{bytes.begin(), bytes.end()} {}

  std::optional<std::string> text(const std::string&) const override { return std::nullopt; }
  std::vector<feedline::detail::folder_entry> list(const std::string&) const override {
    std::vector<folder_entry> entries{{"0", true}, {"0", false, bytes_.size()}};
    for (std::string name = "0.0"; name.size() < 8; name += ".0")
      entries.push_back({name, false, bytes_.size()});
    entries.push_back({"c.0", false, bytes_.size()});
    return entries;
  }
  std::optional<zarr_object> open(const std::string&) const override {
    return zarr_object{feedline::test::memory_file(bytes_), 0, bytes_.size()};
  }
  bool read_whole(const std::string&, std::uint64_t max_bytes,
                  const feedline::detail::file_system::room& memory) const override {
    if (bytes_.size() > max_bytes) throw feedline::dataset_error{{}, "has too many bytes"};
    std::ranges::copy(bytes_, memory(bytes_.size()).begin());
    return true;
  }
  bool is_cold() const noexcept override { return false; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool is_v2 = data[0] == '2';
  const std::string_view all{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::string_view document = all.substr(0, all.find('\0'));
  const auto object =
      std::as_bytes(std::span{all}).subspan(std::min(document.size() + 1, all.size()));
  try {
    const zarr_json json = parse_zarr_json(document, {"document", {}});
    zarr_array array = is_v2 ? parse_v2_array(json, nullptr, "", {"document", {}})
                             : parse_v3_array(json, "", {"document", {}});
    constexpr std::size_t most = std::size_t{1} << 20;  // larger arrays are as good
    if (array.shape.empty() || std::ranges::count(array.shape, 0U) != 0 ||
        !array.codecs.refusal().empty() || array.chunk_bytes() > most)
      return 0;
    const auto store = std::make_shared<const one_object>(object);
    const auto chunks = std::make_shared<const zarr_chunks>(store, std::move(array));
    const zarr_blocks blocks{chunks, true};
    std::vector<std::byte> out(chunks->array().chunk_bytes());
    blocks.read(0, out);
    blocks.read(chunks->size() - 1, out);
  } catch (const feedline::error&) {  // any other ends the fuzzer
  }
  return 0;
}
