#include "support/datasets/encoded_check.hpp"

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"

#include <algorithm>

namespace feedline::test {
namespace {

/// Memory to write to, followed by guards.
class guarded_bytes {
 public:
  explicit guarded_bytes(std::size_t bytes) : bytes_(bytes + guard_bytes, guard) {}

  std::span<std::byte> span() { return std::span{bytes_}.first(bytes_.size() - guard_bytes); }
  [[nodiscard]] bool is_guard_whole() const {
    return std::count(bytes_.end() - guard_bytes, bytes_.end(), guard) == guard_bytes;
  }

 private:
  static constexpr std::size_t guard_bytes = 16;
  static constexpr std::byte guard{0x5a};

  std::vector<std::byte> bytes_;
};

bool is_zero(std::byte byte) {
  return byte == std::byte{};
}

}  // namespace

std::vector<std::byte> stored_bytes(const encoded_blocks& blocks, std::size_t field,
                                    std::uint64_t block) {
  std::vector<std::byte> bytes(blocks.stored(field, block).bytes);
  bytes.resize(blocks.read(field, block, bytes, {}).bytes);
  return bytes;
}

std::vector<std::byte> decoded_block(const encoded_blocks& blocks, std::size_t field,
                                     std::uint64_t block, std::size_t row_bytes) {
  std::vector<std::byte> out(static_cast<std::size_t>(blocks.rows()) * row_bytes);
  std::vector<std::byte> bytes(blocks.stored(field, block).bytes);
  const auto stored = blocks.read(field, block, bytes, {});
  blocks.decode(field, std::span{bytes}.first(stored.bytes), stored, out);
  return out;
}

std::string fault_of_block(const encoded_blocks& blocks, std::size_t field, std::uint64_t block,
                           std::size_t row_bytes, std::span<const std::byte> rows) try {
  const auto room = blocks.stored(field, block);
  const std::size_t steps = blocks.steps(field).size();
  const std::size_t block_bytes = static_cast<std::size_t>(blocks.rows()) * row_bytes;
  if (room.bytes == 0 || room.bytes > blocks.max_stored_bytes(field)) return "its room";
  guarded_bytes as_stored{room.bytes};
  const auto stored = blocks.read(field, block, as_stored.span(), {});
  if (stored.bytes == 0 || stored.bytes > room.bytes) return "its size";
  if (steps > 32 || std::uint64_t{stored.skipped} >> steps != 0) return "its steps";
  if (!as_stored.is_guard_whole()) return "read writes beside it";
  guarded_bytes decoded{block_bytes};
  blocks.decode(field, as_stored.span().first(stored.bytes), stored, decoded.span());
  if (!decoded.is_guard_whole()) return "decode writes beside it";

  const std::size_t first = static_cast<std::size_t>(block) * block_bytes;
  const auto wanted = rows.subspan(first, std::min(block_bytes, rows.size() - first));
  if (!std::ranges::equal(decoded.span().first(wanted.size()), wanted)) return "its rows";
  if (steps != 0) return {};
  if (stored.bytes != block_bytes) return "its size without steps";
  if (!std::ranges::all_of(decoded.span().subspan(wanted.size()), is_zero)) return "its end";
  return {};
} catch (const std::exception& failure) {
  return failure.what();
}

void check_encoded(const dataset& data) {
  const auto blocks = data.encoded();
  REQUIRE(blocks);
  REQUIRE(blocks->rows() > 0);
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < data.size(); ++i) samples.push_back({i});
  const auto rows = read_samples(data, samples);
  const auto fields = data.fields();
  for (std::size_t field = 0; field < fields.size(); ++field)
    for (std::uint64_t block = 0; block * blocks->rows() < data.size(); ++block) {
      INFO("field " << fields[field].name << ", block " << block);
      CHECK(fault_of_block(*blocks, field, block, sample_bytes(fields[field]), rows[field]) == "");
    }
}

}  // namespace feedline::test
