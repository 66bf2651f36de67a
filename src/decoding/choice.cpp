#include "decoding/choice.hpp"

#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "dataset/window_blocks.hpp"
#include "detail/arithmetic.hpp"
#include "detail/image_side.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace feedline::detail {
namespace {

/// Most decoded bytes of a staging slot's blocks, so that blocks arrive evenly.
constexpr std::size_t max_block_slot_bytes = std::size_t{64} << 20;
/// Approximate decoded bytes of one call: a call takes some milliseconds however few blocks there
/// are (docs/decisions/0072).
constexpr std::size_t wanted_group_bytes = std::size_t{400} << 20;
/// Limit of either.
constexpr std::uint64_t max_blocks = 2048;
/// The same for images.
constexpr std::uint32_t max_images = 512;
/// The same where all images are PNGs: a warp inflates one, so a call takes as long for many.
constexpr std::uint32_t max_pngs = 1024;
/// Images that a piece should have room for.
constexpr std::size_t images_of_piece = 32;
/// Groups of images in flight at once: two are decoded while the next one arrives, because one does
/// not fill a large device. Each has a decoder, whose memory is large.
constexpr std::uint32_t image_lanes = 3;
/// Approximate bytes of the windows of a call. They may need few chunks that are not there yet, and
/// a call takes as long for few of them.
constexpr std::size_t wanted_window_bytes = std::size_t{512} << 20;
/// Approximate decoded bytes of the sparse rows of a call: it takes as long for few as for many.
constexpr std::size_t wanted_sparse_bytes = std::size_t{128} << 20;
/// Rows whose numbers take a smaller share of a dense row become dense on the device unasked.
constexpr std::size_t sparse_share = 4;
/// Most bytes of the decoded chunks that windows are cut from, approximately.
constexpr std::size_t max_kept_bytes = std::size_t{6} << 30;
/// Blocks that are sampled: for the usual stored size, and for one that lies in a file.
constexpr std::uint64_t max_looks = 256;
/// Most stored bytes of a block: a damaged file may claim any number.
constexpr std::size_t max_stored_bytes = std::size_t{256} << 20;

/// Why the device cannot decode the chunks of arrays; empty if it can.
std::string refusal_of(const window_blocks& windows, const device_capabilities& device) {
  const auto chunks = windows.chunks();
  for (std::size_t i = 0; i < windows.arrays().size(); ++i) {
    const std::string array = "array '" + windows.arrays()[i].name + "'";
    const std::string refusal = device.decodes->refusal(chunks->steps(i));
    if (!refusal.empty()) return array + ": " + refusal;
    if (const std::size_t bytes = chunks->max_stored_bytes(i); bytes > max_stored_bytes)
      return array + " has a chunk of " + std::to_string(bytes) + " bytes, and " +
             std::to_string(max_stored_bytes) + " are the most";
  }
  return {};
}

/// Why the device cannot decode the blocks of these fields; empty if it can.
std::string refusal_of(const encoded_blocks& blocks, const std::vector<field>& fields,
                       const device_capabilities& device) {
  if (has_step(blocks, fields.size(), block_filter::window)) {
    const auto* const windows = dynamic_cast<const window_blocks*>(&blocks);
    if (windows == nullptr)
      return "windows of arrays are decoded by readers if their dataset is part of another one, "
             "such as a concatenation";
    if (std::string why = refusal_of(*windows, device); !why.empty()) return why;
  }
  for (std::size_t place = 0; place < fields.size(); ++place) {
    const std::string refusal = device.decodes->refusal(blocks.steps(place));
    if (!refusal.empty()) return "field '" + fields[place].name + "': " + refusal;
    if (const std::size_t bytes = blocks.max_stored_bytes(place); bytes > max_stored_bytes)
      return "field '" + fields[place].name + "' has a block of " + std::to_string(bytes) +
             " bytes, and " + std::to_string(max_stored_bytes) + " are the most";
  }
  return {};
}

/// Why the device cannot decode blocks whose rows differ in size from batch to batch; empty if
/// they do not, or if it can.
std::string refusal_of_sizes(const encoded_blocks& blocks, const std::vector<field>& fields) {
  for (std::size_t place = 0; place < fields.size(); ++place) {
    if (!fields[place].by_batch) continue;
    const std::string who = "field '" + fields[place].name + "': the size differs from batch to ";
    const image_size largest = largest_size(fields[place]);
    if (blocks.rows() != 1) return who + "batch, and a block has several samples";
    if (!is_image_side(largest.height) || !is_image_side(largest.width))
      return who + "batch, and a side may have more than " + std::to_string(max_image_side) +
             " pixels";
    for (const block_step& step : blocks.steps(place))
      if (step.filter != block_filter::image)
        return who + "batch, and devices decode only images to different sizes";
  }
  return {};
}

/// Whether all images of a sample of blocks, spread evenly, are PNGs.
/// @param blocks Number of blocks of the dataset, at least 1.
bool are_pngs(const block_plan& plan, std::uint64_t blocks) {
  const std::uint64_t looks = std::min(blocks, max_looks);
  for (std::uint64_t i = 0; i < looks; ++i)
    for (std::size_t field = 0; field < plan.fields; ++field)
      if (!plan.blocks->steps(field).empty() &&
          plan.stored(field, sample_index{i * blocks / looks}).format != image_format::png)
        return false;
  return true;
}

/// Stored bytes of a block, all fields: the mean of a sample of blocks, spread evenly.
/// @param blocks Number of blocks of the dataset, at least 1.
std::size_t usual_bytes_of(const block_plan& plan, std::uint64_t blocks) {
  const std::uint64_t looks = std::min(blocks, max_looks);
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < looks; ++i)
    bytes += plan.stored_bytes(sample_index{i * blocks / looks});
  return divide_up<std::size_t>(bytes, looks);
}

std::string first_obstacle(const device_capabilities& device, const loader_options& options,
                           placement where) {
  if (device.reads_staging) return device.name + " reads staging memory, which holds no blocks";
  if (!device.decodes) return device.name + " decodes no blocks";
  if (!device.assembles) return device.name + " cannot assemble slots from decoded rows";
  if (where != placement::stream)
    return "placement " + std::string{to_string(where)} + " keeps rows as readers decode them";
  if (!options.keep_on_host.empty())
    return "fields that the host keeps (keep_on_host) require readers to decode them";
  if (options.errors.action != error_action::fail)
    return "the error policy replaces samples, which requires readers to decode them";
  if (options.errors.retries > 0)
    return "the error policy repeats reads, which is possible only for single samples";
  return {};
}

/// The chunks that the device decodes for rows or windows, if it does.
struct chunks_choice {
  std::shared_ptr<const window_blocks> windows = nullptr;
  std::string note = {};  ///< why readers decode chunks that the device could have been sent
};

/// Sparse rows need no chunks: readers can gather their numbers.
chunks_choice choose_chunks(const std::shared_ptr<const encoded_blocks>& blocks, std::size_t fields,
                            const device_capabilities& device, decode_on wanted) {
  chunks_choice made{std::dynamic_pointer_cast<const window_blocks>(blocks)};
  if (!made.windows || has_step(*blocks, fields, block_filter::window)) return made;
  const std::string why = refusal_of(*made.windows, device);
  if (!why.empty()) made.note = "readers decode chunks, and the device makes rows dense: " + why;
  if (wanted == decode_on::automatic || !why.empty()) made.windows = nullptr;
  return made;
}

}  // namespace

decoding_choice choose_decoding(const dataset& dataset, const shared_order& order,
                                const device_capabilities& device, const loader_options& options,
                                placement where, std::span<const std::size_t> row_bytes,
                                std::size_t piece_bytes) {
  if (options.decode_on == decode_on::cpu || dataset.size() == 0) return {};
  const auto refuse = [&](const std::string& why) {
    return decoding_choice{.blocks = std::nullopt, .why_not = why};
  };
  if (const std::string why = first_obstacle(device, options, where); !why.empty())
    return refuse(why);
  const auto blocks = dataset.encoded();
  if (!blocks)
    return refuse(dataset.rows().empty()
                      ? "the dataset's rows are not stored in blocks that a device decodes: chunks "
                        "of HDF5 or Zarr, or image files"
                      : "the dataset's rows are in memory, so there is nothing to decode");
  const std::vector<field> fields = dataset.fields();
  if (!has_steps(*blocks, fields.size()))
    return refuse("the dataset's files store rows uncompressed, so there is nothing to decode");
  if (const std::string why = refusal_of_sizes(*blocks, fields); !why.empty()) return refuse(why);
  if (const std::string why = refusal_of(*blocks, fields, device); !why.empty()) return refuse(why);
  std::string why;
  auto placed = block_order::of(order, dataset.size(), blocks->rows(), why);
  if (!placed) return refuse(why);

  const std::size_t decoded =
      blocks->rows() * std::accumulate(row_bytes.begin(), row_bytes.end(), std::size_t{0});
  const auto blocks_in = [&](std::size_t bytes) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / decoded, 1, max_blocks));
  };
  chunks_choice chunks = choose_chunks(blocks, fields.size(), device, options.decode_on);
  block_plan plan{
      .blocks = blocks,
      .order = std::move(*placed),
      .fields = fields.size(),
      .loads_bytes = 0,
      .max_loads = blocks_in(max_block_slot_bytes) * static_cast<std::uint32_t>(fields.size()),
      .max_group = blocks_in(wanted_group_bytes),
      .usual_bytes = 0,
      .windows = std::move(chunks.windows)};
  for (const field& each : fields) plan.varies.push_back(each.by_batch.has_value());
  const std::size_t one = block_plan::table_bytes(plan.fields) + plan.max_stored_bytes();
  plan.loads_bytes = round_up(std::max(piece_bytes, one), std::size_t{256});
  const std::uint64_t all = divide_up(dataset.size(), blocks->rows());
  plan.usual_bytes = usual_bytes_of(plan, all);
  if (has_step(*blocks, fields.size(), block_filter::sparse_row)) {
    plan.max_group = std::min(plan.max_group, blocks_in(wanted_sparse_bytes));
    if (options.decode_on == decode_on::automatic && plan.usual_bytes > decoded / sparse_share)
      return refuse("a row's numbers and columns take " + std::to_string(plan.usual_bytes) +
                    " bytes of the " + std::to_string(decoded) +
                    " that it has when it is dense: set decode_on::device to send them");
  }
  const bool is_of_images = has_step(*blocks, fields.size(), block_filter::image);
  const std::uint32_t worth = is_of_images ? std::min(plan.max_group, max_images) : plan.max_group;
  if (is_of_images) {
    plan.max_group = are_pngs(plan, all) ? std::min(plan.max_group, max_pngs) : worth;
    plan.lanes = image_lanes;
    // A file has room for its row, so large rows need larger pieces, unless memory is limited.
    if (options.expert.piece_bytes == 0 && options.memory.pinned == 0)
      plan.loads_bytes =
          std::max(plan.loads_bytes,
                   round_up(std::min(images_of_piece * plan.usual_bytes, max_block_slot_bytes),
                            std::size_t{256}));
  }
  if (plan.windows) {
    plan.max_group = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        plan.order.blocks() / block_plan::wanted_groups, 1, blocks_in(wanted_window_bytes)));
    plan.kept_bytes =
        options.memory.cache == 0 ? max_kept_bytes : std::min(options.memory.cache, max_kept_bytes);
    if (options.decode_on == decode_on::automatic)
      return refuse(
          "the chunks of windows are decoded on the device only if that is asked for: set "
          "decode_on::device");
  }
  const std::uint64_t pays = std::uint64_t{2} * worth + 1;
  if (options.decode_on == decode_on::automatic && plan.order.blocks() < pays)
    return refuse("an epoch has " + std::to_string(plan.order.blocks()) +
                  " blocks, and decoding on the device pays from " + std::to_string(pays) +
                  " on: set decode_on::device to force it");
  std::vector<std::string> decoded_fields;
  for (std::size_t field = 0; field < fields.size(); ++field)
    if (!blocks->steps(field).empty()) decoded_fields.push_back(fields[field].name);
  return {.blocks = std::move(plan),
          .why_not = std::move(chunks.note),
          .fields = std::move(decoded_fields)};
}

bool has_decoders_for(const dataset& dataset, const device_capabilities& device) {
  if (device.reads_staging || !device.decodes || !device.assembles) return false;
  const auto blocks = dataset.encoded();
  const std::vector<field> fields = dataset.fields();
  return blocks && has_steps(*blocks, fields.size()) && refusal_of_sizes(*blocks, fields).empty() &&
         refusal_of(*blocks, fields, device).empty();
}

}  // namespace feedline::detail
