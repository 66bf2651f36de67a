#include "loader/decoding_choice.hpp"

#include "detail/arithmetic.hpp"
#include "loader/plan.hpp"
#include "staging/device_row_cache.hpp"
#include "transfer/decoding_stage.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace feedline {

std::string_view to_string(decode_on who) noexcept {
  switch (who) {
    case decode_on::cpu:
      return "cpu";
    case decode_on::device:
      return "device";
  }
  return "unknown";
}

namespace detail {
namespace {

/// Blocks that a staging slot brings, at most, so that what is decoded at once stays within this.
constexpr std::size_t max_decoded_bytes = std::size_t{64} << 20;
constexpr std::uint64_t max_blocks = 2048;
/// What a block may take as it is stored: a damaged file may claim any number.
constexpr std::size_t max_stored_bytes = std::size_t{256} << 20;

/// Why the device cannot decode the blocks of these fields; empty if it can.
std::string refusal_of(const encoded_blocks& blocks, const std::vector<field>& fields,
                       const device_capabilities& device) {
  for (std::size_t place = 0; place < fields.size(); ++place) {
    const std::string refusal = device.decodes->refusal(blocks.steps(place));
    if (!refusal.empty()) return "field '" + fields[place].name + "': " + refusal;
    if (const std::size_t bytes = blocks.max_stored_bytes(place); bytes > max_stored_bytes)
      return "field '" + fields[place].name + "' has a block of " + std::to_string(bytes) +
             " bytes, and " + std::to_string(max_stored_bytes) + " are the most";
  }
  return {};
}

std::string first_obstacle(const device_capabilities& device, const loader_options& options,
                           placement where) {
  if (device.reads_staging) return device.name + " reads staging memory, which holds no blocks";
  if (!device.decodes) return device.name + " decodes no blocks";
  if (where != placement::stream)
    return "placement " + std::string{to_string(where)} + " keeps rows as readers decode them";
  if (options.errors.action != error_action::fail)
    return "the error policy replaces samples, for which readers must decode them";
  if (options.errors.retries > 0)
    return "the error policy tries reads again, which is done for samples alone";
  if (options.shard.world > 1) return "each rank of a shard takes a part of every block";
  if (options.partial_batch == partial_batch::fill)
    return "partial_batch::fill takes samples from the epoch's beginning again";
  return {};
}

}  // namespace

decoding_choice choose_decoding(const dataset& dataset, const sampler& order,
                                const device_capabilities& device, const loader_options& options,
                                placement where) {
  if (options.decode_on == decode_on::cpu) return {};
  const auto refuse = [](std::string why) { return decoding_choice{std::nullopt, std::move(why)}; };
  if (std::string why = first_obstacle(device, options, where); !why.empty())
    return refuse(std::move(why));
  const auto blocks = dataset.encoded();
  if (!blocks) return refuse("the dataset's rows are not stored in blocks that a device decodes");
  const std::vector<field> fields = dataset.fields();
  if (std::string why = refusal_of(*blocks, fields, device); !why.empty())
    return refuse(std::move(why));
  std::string why;
  auto placed = block_order::of(order, dataset.size(), blocks->rows(), why);
  if (!placed) return refuse(std::move(why));

  const std::vector<std::size_t> row_bytes = row_bytes_of(dataset);
  const std::size_t decoded =
      blocks->rows() * std::accumulate(row_bytes.begin(), row_bytes.end(), std::size_t{0});
  std::size_t stored = block_plan::table_bytes(fields.size());
  for (std::size_t place = 0; place < fields.size(); ++place)
    stored += block_plan::rounded(blocks->max_stored_bytes(place));
  const std::size_t usual =
      options.piece_bytes != 0 ? options.piece_bytes : usual_piece_bytes(placement::stream);
  const std::uint64_t at_once =
      std::clamp<std::uint64_t>(max_decoded_bytes / decoded, 1, max_blocks);
  return {block_plan{.blocks = blocks,
                     .order = std::move(*placed),
                     .fields = fields.size(),
                     .places = 0,
                     .loads_bytes = round_up(std::max(usual, stored), std::size_t{256}),
                     .max_loads = static_cast<std::uint32_t>(at_once * fields.size())},
          {}};
}

void size_store(block_plan& blocks, std::uint64_t slot_samples) noexcept {
  // A slot's samples may begin at a window's end and end in another window, of which the one behind
  // is loaded ahead to the same part.
  const std::uint64_t of_slot = divide_up(slot_samples, blocks.order.rows());
  const std::uint64_t most = 2 * blocks.order.max_window() + 2 * of_slot + 3;
  blocks.places = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({most, blocks.order.blocks(), 0xFFFF'FFFF}));
}

std::vector<std::size_t> row_bytes_of(const dataset& dataset) {
  std::vector<std::size_t> row_bytes;
  for (const field& field : dataset.fields()) row_bytes.push_back(sample_bytes(field));
  return row_bytes;
}

decoding_bytes bytes_of(block_plan blocks, const dataset& dataset,
                        const device_capabilities& device, std::uint64_t slot_samples,
                        std::size_t slots) {
  const std::vector<std::size_t> row_bytes = row_bytes_of(dataset);
  size_store(blocks, slot_samples);
  const std::uint64_t rows = blocks.places * blocks.order.rows();
  return {.store = device_row_cache::bytes(row_bytes, rows),
          .decoder = decoding_stage::device_bytes(blocks, row_bytes, *device.decodes, slots),
          .rows = rows};
}

std::string too_many(const decoding_bytes& decoded, const loader_options& options) {
  if (options.max_device_cache_bytes != 0 && decoded.store > options.max_device_cache_bytes)
    return "decoded blocks would take " + std::to_string(decoded.store) +
           " bytes, and max_device_cache_bytes is " +
           std::to_string(options.max_device_cache_bytes) + ": raise it, or mix fewer chunks";
  if (decoded.rows >= assembly::arrived)
    return "windows hold " + std::to_string(decoded.rows) +
           " rows, and 2^31 - 1 can be numbered: mix fewer chunks";
  return {};
}

}  // namespace detail
}  // namespace feedline
