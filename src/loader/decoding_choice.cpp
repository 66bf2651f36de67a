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
    case decode_on::automatic:
      return "automatic";
  }
  return "unknown";
}

namespace detail {
namespace {

/// What a staging slot brings, at most, once it is decoded: so blocks come evenly.
constexpr std::size_t max_block_slot_bytes = std::size_t{64} << 20;
/// What a call decodes, about: it takes some milliseconds however few blocks there are
/// (docs/decisions/0075).
constexpr std::size_t wanted_group_bytes = std::size_t{400} << 20;
/// Of either.
constexpr std::uint64_t max_blocks = 2048;
/// The same of images, which a decoder has memory for.
constexpr std::uint32_t max_images = 256;
/// Groups of images that are on their way at once: one is decoded while the next one arrives. Each
/// has a decoder, whose memory is large.
constexpr std::uint32_t image_lanes = 2;
/// Blocks whose stored sizes are looked at, to know the usual one.
constexpr std::uint64_t max_looks = 256;
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

/// Whether a block of some field is an image.
bool has_images(const encoded_blocks& blocks, std::size_t fields) {
  for (std::size_t field = 0; field < fields; ++field)
    for (const block_step& step : blocks.steps(field))
      if (step.filter == block_filter::jpeg) return true;
  return false;
}

/// What a block takes as it is stored, all fields: the mean of some that are spread evenly.
/// @param blocks Of the dataset, at least 1.
std::size_t usual_bytes_of(const block_plan& plan, std::uint64_t blocks) {
  const std::uint64_t looks = std::min(blocks, max_looks);
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < looks; ++i)
    bytes += plan.stored_bytes(sample_index{i * blocks / looks});
  return divide_up<std::size_t>(bytes, looks);
}

/// Limits of device memory, in bytes; 0: none.
struct memory_limits {
  std::size_t store = 0;
  std::size_t decoder = 0;
};

/// The decoder leaves half of its budget to slots, and the fewest that there may be in any case.
memory_limits limits_of(const loader_options& options, const slot_memory& sizes,
                        std::uint64_t batches) {
  const std::size_t budget = options.max_device_bytes;
  memory_limits limits{.store = options.max_device_cache_bytes};
  if (budget == 0) return limits;
  const auto slots = checked_multiply(
      options.device_slots == 0 ? fewest_slots : options.device_slots, sizes.device_bytes(batches));
  const std::size_t landing = sizes.landing_bytes(batches);
  const bool none_left = !slots || *slots > budget || landing > budget - *slots;
  const std::size_t left = none_left ? 0 : budget - *slots - landing;
  limits.decoder = std::max<std::size_t>(1, std::min(left, budget / 2));
  return limits;
}

std::size_t store_bytes(const block_plan& blocks, const std::vector<std::size_t>& row_bytes) {
  return device_row_cache::bytes(row_bytes, blocks.places * blocks.order.rows());
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
  return {};
}

}  // namespace

decoding_choice choose_decoding(const dataset& dataset, const sampler& order,
                                const device_capabilities& device, const loader_options& options,
                                placement where) {
  if (options.decode_on == decode_on::cpu || dataset.size() == 0) return {};
  const auto refuse = [](std::string why) { return decoding_choice{std::nullopt, std::move(why)}; };
  if (std::string why = first_obstacle(device, options, where); !why.empty())
    return refuse(std::move(why));
  const auto blocks = dataset.encoded();
  if (!blocks)
    return refuse(dataset.rows().empty()
                      ? "the dataset's rows are not stored in blocks that a device decodes"
                      : "the dataset's rows lie in memory, and there is nothing to decode");
  const std::vector<field> fields = dataset.fields();
  if (std::string why = refusal_of(*blocks, fields, device); !why.empty())
    return refuse(std::move(why));
  std::string why;
  auto placed = block_order::of(order, share_of(order, dataset, options), dataset.size(),
                                blocks->rows(), why);
  if (!placed) return refuse(std::move(why));

  const std::vector<std::size_t> row_bytes = row_bytes_of(dataset);
  const std::size_t decoded =
      blocks->rows() * std::accumulate(row_bytes.begin(), row_bytes.end(), std::size_t{0});
  const std::size_t usual =
      options.piece_bytes != 0 ? options.piece_bytes : usual_piece_bytes(placement::stream);
  const auto blocks_in = [&](std::size_t bytes) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / decoded, 1, max_blocks));
  };
  block_plan plan{
      .blocks = blocks,
      .order = std::move(*placed),
      .fields = fields.size(),
      .loads_bytes = 0,
      .max_loads = blocks_in(max_block_slot_bytes) * static_cast<std::uint32_t>(fields.size()),
      .max_group = blocks_in(wanted_group_bytes),
      .usual_bytes = 0};
  const std::size_t one = block_plan::table_bytes(plan.fields) + plan.max_stored_bytes();
  plan.loads_bytes = round_up(std::max(usual, one), std::size_t{256});
  plan.usual_bytes = usual_bytes_of(plan, divide_up(dataset.size(), blocks->rows()));
  if (has_images(*blocks, fields.size())) {
    plan.max_group = std::min(plan.max_group, max_images);
    plan.lanes = image_lanes;
  }
  const std::uint64_t pays = std::uint64_t{2} * plan.max_group + 1;
  if (options.decode_on == decode_on::automatic && plan.order.blocks() < pays)
    return refuse("an epoch has " + std::to_string(plan.order.blocks()) + " blocks, and from " +
                  std::to_string(pays) + " on it pays: ask for decode_on::device to have it still");
  return {std::move(plan), {}};
}

void size_store(block_plan& blocks, std::uint64_t slot_samples, std::uint64_t ahead) noexcept {
  const std::uint64_t all = blocks.order.blocks();
  const std::uint64_t of_slot = blocks.order.blocks_of(slot_samples);
  blocks.ahead = static_cast<std::uint32_t>(ahead);
  // Few are ahead only where memory is short. A call for each of a slot's blocks would take long.
  blocks.group = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::max(ahead / blocks.lanes, of_slot), 1, std::min<std::uint64_t>(blocks.max_group, all)));
  // A block is decoded before the samples of its own slot are assembled. These may begin at a
  // window's end, and pass `of_slot` blocks and parts of two; behind where they end, a window and
  // those ahead are loaded.
  const std::uint64_t most = 2 * blocks.order.max_window() + ahead + 2 * of_slot + 3;
  blocks.places = static_cast<std::uint32_t>(std::min<std::uint64_t>({most, all, 0xFFFF'FFFF}));
  const std::size_t largest = blocks.max_stored_bytes();
  const std::size_t usual = blocks.group * std::min(largest, blocks.usual_bytes / 4 * 5);
  blocks.group_bytes = round_up(std::max(largest, usual), std::size_t{256});
}

block_plan sized(block_plan blocks, const dataset& dataset, const device_capabilities& device,
                 const loader_options& options, const slot_memory& sizes, std::uint64_t batches) {
  const std::vector<std::size_t> row_bytes = row_bytes_of(dataset);
  const memory_limits limits = limits_of(options, sizes, batches);
  const auto fits = [&] {
    return (limits.store == 0 || store_bytes(blocks, row_bytes) <= limits.store) &&
           blocks.places * blocks.order.rows() < assembly::arrived &&
           (limits.decoder == 0 ||
            decoding_stage::device_bytes(blocks, row_bytes, *device.decodes, 0) <= limits.decoder);
  };
  std::uint64_t ahead =
      std::min(std::uint64_t{blocks.lanes} * blocks.max_group, blocks.order.blocks());
  size_store(blocks, batches * options.batch_size, ahead);
  while (ahead > 1 && !fits()) {
    ahead -= divide_up<std::uint64_t>(ahead, 8);
    size_store(blocks, batches * options.batch_size, ahead);
  }
  return blocks;
}

std::size_t decoding_choice::answer_bytes(const loader_options& options) const noexcept {
  if (!blocks) return 0;
  return decoding_stage::answer_bytes(options.device_slots == 0 ? usual_slots
                                                                : options.device_slots);
}

std::vector<std::size_t> row_bytes_of(const dataset& dataset) {
  std::vector<std::size_t> row_bytes;
  for (const field& field : dataset.fields()) row_bytes.push_back(sample_bytes(field));
  return row_bytes;
}

decoding_bytes bytes_of(const block_plan& blocks, const dataset& dataset,
                        const device_capabilities& device, std::size_t slots) {
  const std::vector<std::size_t> row_bytes = row_bytes_of(dataset);
  return {.store = store_bytes(blocks, row_bytes),
          .decoder = decoding_stage::device_bytes(blocks, row_bytes, *device.decodes, slots),
          .answers = decoding_stage::answer_bytes(slots),
          .rows = blocks.places * blocks.order.rows()};
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
