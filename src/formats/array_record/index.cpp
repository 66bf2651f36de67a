#include "formats/array_record/index.hpp"

#include <feedline/error.hpp>

#include "formats/array_record/riegeli.hpp"
#include "formats/tfrecord/wire.hpp"

#include <array>
#include <string>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::uint64_t array_record_magic = 0x71930e704fdae05e;
constexpr std::uint64_t signature_bytes = 64;

dataset_error damaged_index(const std::string& what) {
  return {{}, "the index of the file is damaged: " + what + "; get the file again"};
}

/// The first numbers of a message; 0: it has none of this field.
template <std::size_t N>
std::array<std::uint64_t, N> numbers_in(byte_span message) {
  std::array<std::uint64_t, N> found{};
  for (wire_reader fields{message}; !fields.at_end();) {
    const wire_field field = fields.next();
    if (field.type == wire_type::varint && field.number <= N) found[field.number - 1] = field.value;
  }
  return found;
}

/// The records of a chunk of the index.
struct index_records {
  std::vector<std::byte> values;
  std::vector<std::uint64_t> ends;

  [[nodiscard]] byte_span first() const {
    return byte_span{values}.first(static_cast<std::size_t>(ends.front()));
  }
};

index_records read_index_chunk(const byte_file& file, byte_range place) try {
  std::vector<std::byte> stored(static_cast<std::size_t>(place.end - place.begin));
  file.read(place.begin, stored);
  const packed_records packed = find_records(take_riegeli_chunk(stored, place.begin));
  if (packed.records == 0) throw damaged_index("a part of it is empty");
  index_records found;
  found.ends.resize(static_cast<std::size_t>(packed.records));
  found.values.resize(static_cast<std::size_t>(packed.raw_bytes));
  unpack_record_ends(packed, found.ends);
  unpack_records(packed, found.values);
  return found;
} catch (const dataset_error& fault) {
  throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = place.begin},
                      fault.message()};
}

/// Where the index begins, as the last block of the file says.
std::uint64_t find_footer(const byte_file& file, std::uint64_t postscript) {
  std::array<std::uint64_t, 2> told{};
  try {
    told = numbers_in<2>(
        read_index_chunk(file, {postscript, postscript + riegeli_block_bytes}).first());
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = postscript},
                        "has no index of ArrayRecord in its last 64 KiB: the file is cut short, or "
                        "another writer of Riegeli made it; get it again, or write its records "
                        "with ArrayRecordWriter (" +
                            fault.message() + ')'};
  }
  const auto [footer, magic] = told;
  if (magic != array_record_magic || footer < signature_bytes || footer >= postscript ||
      !may_begin_chunk(footer))
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = postscript},
                        "the index of the file is damaged: it is nowhere in the file; get the file "
                        "again"};
  return footer;
}

}  // namespace

std::vector<array_chunk> parse_array_index(byte_span values, std::span<const std::uint64_t> ends,
                                           std::uint64_t footer) {
  const auto record = [&](std::size_t i) {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    return values.subspan(static_cast<std::size_t>(begin),
                          static_cast<std::size_t>(ends[i] - begin));
  };
  byte_span about;
  for (wire_reader parts{record(0)}; !parts.at_end();)
    if (const wire_field part = parts.next(); part.number == 1 && part.type == wire_type::bytes)
      about = part.bytes;
  const auto [version, chunks, records] = numbers_in<3>(about);
  if (version != 1)
    throw dataset_error{{},
                        "is of version " + std::to_string(version) +
                            " of ArrayRecord, and feedline reads version 1; write the records "
                            "again with a package of version 1"};
  if (chunks != ends.size() - 1)
    throw damaged_index("it has " + std::to_string(ends.size() - 1) + " chunks, not " +
                        std::to_string(chunks));
  std::vector<array_chunk> found;
  std::uint64_t count = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const auto [begin, raw_bytes, own_records] = numbers_in<3>(record(i));
    const std::uint64_t least = found.empty() ? signature_bytes : found.back().stored.begin + 1;
    if (begin < least || begin >= footer || !may_begin_chunk(begin))
      throw damaged_index("chunk " + std::to_string(i - 1) + " is at byte " +
                          std::to_string(begin));
    if (own_records == 0 || own_records > records - count)
      throw damaged_index("chunk " + std::to_string(i - 1) + " has " + std::to_string(own_records) +
                          " records");
    if (!found.empty()) found.back().stored.end = begin;
    found.push_back({{begin, footer}, count += own_records, raw_bytes});
  }
  if (count != records)
    throw damaged_index("its chunks have " + std::to_string(count) + " records, not " +
                        std::to_string(records));
  return found;
}

std::vector<array_chunk> read_array_index(const byte_file& file) {
  if (file.size() < 2 * riegeli_block_bytes || file.size() % riegeli_block_bytes != 0)
    throw dataset_error{{.path = file.name(), .field = {}},
                        "is no whole ArrayRecord file: it has " + std::to_string(file.size()) +
                            " bytes, and such a file has a multiple of 65536; get it again, or "
                            "close its writer"};
  const std::uint64_t postscript = file.size() - riegeli_block_bytes;
  const std::uint64_t footer = find_footer(file, postscript);
  const index_records records = read_index_chunk(file, {footer, postscript});
  try {
    return parse_array_index(records.values, records.ends, footer);
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = footer},
                        fault.message()};
  }
}

}  // namespace feedline::detail
