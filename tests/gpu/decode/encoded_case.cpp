#include "gpu/decode/encoded_case.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>

#include "cuda/check.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "hdf5/filter/filters.hpp"
#include "support/checks/catch.hpp"
#include "support/hdf5/encoders.hpp"

#include <cuda_runtime_api.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace feedline::test {
namespace {

constexpr std::byte untouched{0x5A};
constexpr std::uint32_t rows = 4;

detail::hdf5_filter filter_of(const block_step& step) {
  switch (step.filter) {
    case block_filter::deflate:
      return {.id = 1, .values = {6}};
    case block_filter::byte_shuffle:
      return {.id = 2, .values = {step.element_bytes}};
    case block_filter::fletcher32:
      return {.id = 3};
    case block_filter::bit_shuffle:
      return {.id = 32008, .values = {0, 0, step.element_bytes}};
    case block_filter::zstd:
      return {.id = 32015};
    case block_filter::lz4:
      return {.id = 32004};
    case block_filter::bit_shuffle_lz4:
      return {.id = 32008, .values = {0, 0, step.element_bytes, 0, 2}};
    case block_filter::bit_shuffle_zstd:
      return {.id = 32008, .values = {0, 0, step.element_bytes, 0, 3}};
    case block_filter::blosc_lz4:
    case block_filter::blosc_zstd:
    case block_filter::blosc_zlib:
      return {.id = 32001};
    case block_filter::gzip:  // unpacked before
    case block_filter::image:
    case block_filter::window:
    case block_filter::sparse_row:
    case block_filter::other:
      break;
  }
  return {};
}

bytes gzipped(const bytes& given) {
  z_stream stream{};
  bytes packed(given.size() + given.size() / 100 + 64);
  constexpr int gzip = MAX_WBITS + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(given.data()));
  stream.avail_in = static_cast<uInt>(given.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(is_done ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

bytes after(const block_step& step, const bytes& given) {
  switch (step.filter) {
    case block_filter::deflate:
      return deflated(given);
    case block_filter::byte_shuffle:
      return shuffled(given, step.element_bytes);
    case block_filter::fletcher32:
      return with_fletcher32(given);
    case block_filter::bit_shuffle:
      return bitshuffled(given, step.element_bytes, 0, bit_compression::none);
    case block_filter::zstd:
      return zstd_packed(given);
    case block_filter::lz4:
      return lz4_packed(given, 65'536);
    case block_filter::bit_shuffle_lz4:
      return bitshuffled(given, step.element_bytes, 0, bit_compression::lz4);
    case block_filter::bit_shuffle_zstd:
      return bitshuffled(given, step.element_bytes, 0, bit_compression::zstd);
    case block_filter::blosc_lz4:
      return blosc_packed(given, step.element_bytes, "lz4", 1);
    case block_filter::blosc_zstd:
      return blosc_packed(given, step.element_bytes, "zstd", 2);
    case block_filter::blosc_zlib:
      return blosc_packed(given, step.element_bytes, "zlib", 1);
    case block_filter::gzip:
      return gzipped(given);
    case block_filter::image:
    case block_filter::window:
    case block_filter::sparse_row:
    case block_filter::other:
      break;
  }
  return given;
}

/// A copy destination with the blocks and the table of block reads.
struct destination {
  bytes memory;
  std::size_t loads_at = 0;
  std::vector<block_load> loads;

  explicit destination(const std::vector<arriving_block>& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const arriving_block& block = blocks[i];
      loads.push_back({.field = block.field,
                       .place = static_cast<std::uint32_t>(2 * i + 1),
                       .bytes = static_cast<std::uint32_t>(block.stored.size()),
                       .at = static_cast<std::uint32_t>(memory.size() / 16),
                       .skipped = block.skipped,
                       .missing = block.missing ? 1U : 0U});
      memory.insert(memory.end(), block.stored.begin(), block.stored.end());
      memory.resize((memory.size() + 15) / 16 * 16);
    }
    loads_at = memory.size();
    memory.resize(loads_at + loads.size() * sizeof(block_load));
    std::memcpy(memory.data() + loads_at, loads.data(), loads.size() * sizeof(block_load));
  }
};

std::size_t largest_stored(const std::vector<arriving_block>& blocks, std::uint32_t field) {
  std::size_t most = 1;
  for (const arriving_block& block : blocks)
    if (block.field == field) most = std::max(most, block.stored.size());
  return most;
}

void check_first_bad(block_decoder& decoder, const device_ptr& device, const gpu_stream& stream,
                     const std::vector<std::uint32_t>& states, std::size_t fields) {
  std::vector<std::uint32_t> sources;
  std::uint32_t expected = 0xFFFFFFFF;
  for (std::uint32_t place = static_cast<std::uint32_t>(states.size() / fields); place-- > 0;) {
    const auto begin = states.begin() + static_cast<std::ptrdiff_t>(place * fields);
    const bool bad = std::any_of(begin, begin + static_cast<std::ptrdiff_t>(fields),
                                 [](std::uint32_t state) { return state != 0; });
    if (bad) expected = std::min(expected, static_cast<std::uint32_t>(sources.size()));
    sources.push_back(place * rows + place % rows);
  }
  const auto* const raw = reinterpret_cast<const std::byte*>(sources.data());
  const gpu_copy on_gpu{device, {raw, raw + sources.size() * sizeof(std::uint32_t)}};
  const gpu_copy result{device, bytes(sizeof(std::uint32_t))};
  decoder.find_bad({.sources = reinterpret_cast<const std::uint32_t*>(on_gpu.data()),
                    .samples = static_cast<std::uint32_t>(sources.size()),
                    .first_bad = reinterpret_cast<std::uint32_t*>(result.data())},
                   stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  std::uint32_t found = 0;
  std::memcpy(&found, result.read_back().data(), sizeof found);
  CHECK(found == expected);
}

}  // namespace

bytes plain_block(std::size_t size, std::uint32_t seed) {
  bytes block(size);
  for (std::size_t i = 0; i < size; ++i)
    block[i] = static_cast<std::byte>((i / 5 * (seed + 3)) % 61 + i % 4 + seed);
  return block;
}

arriving_block encoded(const encoded_field& field, std::uint32_t field_number, const bytes& plain,
                       std::uint32_t skipped) {
  arriving_block block{.field = field_number, .stored = plain, .skipped = skipped};
  for (std::size_t i = 0; i < field.steps.size(); ++i)
    if (((skipped >> i) & 1U) == 0) block.stored = after(field.steps[i], block.stored);
  return block;
}

std::optional<bytes> reference(const encoded_field& field, const arriving_block& block) {
  if (block.missing || block.refused) return {};
  std::vector<detail::hdf5_filter> pipeline;
  for (const block_step& step : field.steps) pipeline.push_back(filter_of(step));
  detail::hdf5_decoder scratch;
  bytes decoded(field.block_bytes);
  bytes stored = block.stored;
  try {
    const std::size_t last = field.steps.size() - 1;  // HDF5 has no gzip
    if (!field.steps.empty() && field.steps[last].filter == block_filter::gzip) {
      pipeline.pop_back();
      bytes unpacked(field.block_bytes + 64);
      if (((block.skipped >> last) & 1U) == 0) {
        unpacked.resize(detail::undo_gzip(stored, unpacked, scratch));
        stored = unpacked;
      }
    }
    detail::hdf5_filters{pipeline}.decode(stored, block.skipped, true, scratch, decoded);
  } catch (const detail::hdf5_filter_error&) {
    return {};
  }
  return decoded;
}

bool zlib_takes(const bytes& stream) {
  bytes out(30'000);
  uLongf size = out.size();
  uLong stream_bytes = stream.size();
  return ::uncompress2(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(stream.data()), &stream_bytes) == Z_OK;
}

void check_decoding(const std::vector<encoded_field>& fields,
                    const std::vector<arriving_block>& blocks) {
  const auto device = make_cuda_device(0);
  const auto decoders = device->capabilities().decodes;
  const gpu_stream stream;
  const destination staged{blocks};
  const gpu_copy copy_destination{device, staged.memory};
  const std::size_t places = 2 * blocks.size() + 1;
  std::vector<std::unique_ptr<gpu_copy>> memory;
  block_store store;
  store.places = static_cast<std::uint32_t>(places);
  store.rows = rows;
  store.max_loads = static_cast<std::uint32_t>(blocks.size());
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    memory.push_back(
        std::make_unique<gpu_copy>(device, bytes(places * fields[i].block_bytes, untouched)));
    store.fields.push_back({.blocks = memory.back()->data(),
                            .block_bytes = fields[i].block_bytes,
                            .steps = fields[i].steps,
                            .max_stored_bytes = largest_stored(blocks, i)});
  }
  const gpu_copy states{device, bytes(places * fields.size() * sizeof(std::uint32_t))};
  store.states = reinterpret_cast<std::uint32_t*>(states.data());

  const auto decoder = decoders->make(store);
  for (int turn = 0; turn < 2; ++turn)  // its memory serves again
    decoder->decode({.copy_destination = copy_destination.data(),
                     .staged = staged.memory.data(),
                     .loads_at = staged.loads_at,
                     .loads = static_cast<std::uint32_t>(staged.loads.size())},
                    stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));

  std::vector<bytes> seen;
  for (const auto& each : memory) seen.push_back(each->read_back());
  std::vector<std::uint32_t> seen_states(places * fields.size());
  std::memcpy(seen_states.data(), states.read_back().data(),
              seen_states.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const block_load& load = staged.loads[i];
    const encoded_field& field = fields[load.field];
    const auto expected = reference(field, blocks[i]);
    CAPTURE(i, load.field, load.bytes, load.skipped, expected.has_value());
    CHECK((seen_states[load.place * fields.size() + load.field] == 0) == expected.has_value());
    auto& all = seen[load.field];
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(load.place * field.block_bytes);
    const auto end = at + static_cast<std::ptrdiff_t>(field.block_bytes);
    if (expected) CHECK(std::equal(at, end, expected->begin()));
    std::fill(at, end, untouched);
  }
  for (const bytes& all : seen)
    CHECK(std::all_of(all.begin(), all.end(), [](std::byte each) { return each == untouched; }));
  check_first_bad(*decoder, device, stream, seen_states, fields.size());
}

}  // namespace feedline::test
