#include "formats/litdata/frames.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view frames_magic{"LDFZ01\0\0", 8};
constexpr std::uint64_t frames_head_bytes = 24;
constexpr std::uint64_t frame_entry_bytes = 24;

[[noreturn]] void refuse_frames(const byte_file& file, std::uint64_t at, const std::string& why) {
  throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = at},
                      "the chunk is damaged: " + why + "; get it again"};
}

}  // namespace

std::vector<packed_block> read_litdata_frames(const byte_file_ptr& file, std::uint64_t samples) {
  std::vector<std::byte> memory(frames_head_bytes);
  if (file->size() < frames_head_bytes) refuse_frames(*file, 0, "it is cut short");
  file->read(0, memory);
  const auto number = [&](std::uint64_t offset, std::size_t bytes = 4) {
    return little_endian(std::span{memory}.subspan(static_cast<std::size_t>(offset), bytes));
  };
  const std::string_view magic{reinterpret_cast<const char*>(memory.data()), frames_magic.size()};
  if (magic != frames_magic || number(8, 2) != 1)
    refuse_frames(*file, 0, "it does not begin with LDFZ01 and version 1, as the index says");
  if (number(12) != samples)
    refuse_frames(*file, 12,
                  "it has " + std::to_string(number(12)) + " records, but the index says " +
                      std::to_string(samples));
  const std::uint64_t frames = number(20);
  const std::uint64_t offsets_end = frames_head_bytes + 4 * (samples + 1);
  const std::uint64_t head = offsets_end + frames * frame_entry_bytes;
  if (samples > file->size() / 4 || frames > file->size() / frame_entry_bytes ||
      head > file->size())
    refuse_frames(*file, 20, "it is cut short");
  memory.resize(static_cast<std::size_t>(head));
  file->read(0, memory);
  std::vector<std::uint32_t> offsets;
  for (std::uint64_t at = frames_head_bytes; at < offsets_end; at += 4) {
    offsets.push_back(static_cast<std::uint32_t>(number(at)));
    if (offsets.size() > 1 && offsets.back() < offsets[offsets.size() - 2])
      refuse_frames(*file, at, "the offsets of its records are not in order");
  }
  const auto shared = std::make_shared<const std::vector<std::uint32_t>>(std::move(offsets));
  std::vector<packed_block> blocks;
  std::uint64_t next = 0;
  for (std::uint64_t at = offsets_end; at < head; at += frame_entry_bytes) {
    const std::uint64_t first = number(at);
    const std::uint64_t count = number(at + 4);
    const std::uint64_t begin = number(at + 8, 8);
    const std::uint64_t stored = number(at + 16);
    const std::uint64_t raw = number(at + 20);
    if (first != next || count == 0 || count > samples - next)
      refuse_frames(*file, at, "the records of a batch do not follow those before it");
    next += count;
    if (begin < head || begin > file->size() || stored > file->size() - begin)
      refuse_frames(*file, at, "a batch is not within it");
    if (raw != (*shared)[next] - (*shared)[first])
      refuse_frames(*file, at, "a batch has another size than its records");
    if (raw == 0) refuse_frames(*file, at, "a batch is empty");
    blocks.push_back({.file = file,
                      .stored = {begin, begin + stored},
                      .codec = shard_codec::zstd,
                      .raw_bytes = raw,
                      .samples = count,
                      .offsets = shared,
                      .first = first});
  }
  if (next != samples) refuse_frames(*file, 20, "its batches do not have all records");
  file->require_unchanged();
  return blocks;
}

}  // namespace feedline::detail
