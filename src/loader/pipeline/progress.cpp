#include "loader/pipeline/progress.hpp"

#include <feedline/detail/splitmix64.hpp>
#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "detail/arithmetic.hpp"
#include "detail/text.hpp"
#include "loader/partial_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

loader_state identity_of(const dataset& dataset, const sampler& order,
                         const loader_options& options) {
  loader_state state{
      .samples = dataset.size(),
      .positions = order.size(dataset.size()),
      .global_batch = options.batch_size * static_cast<std::uint64_t>(options.shard.world),
      .partial_batch = options.partial_batch,
      .transform_seed = options.seed};
  for (const field& field : dataset.fields()) state.fields.push_back(to_string(field));
  for (const field_transform& each : options.transforms)
    state.transforms.push_back(to_string(each));
  if (options.mixing) state.transforms.push_back(to_string(*options.mixing));
  std::sort(state.transforms.begin(), state.transforms.end());
  return state;
}

/// The fields as states had them before they named the classes of labels.
std::vector<std::string> fields_without_classes(const dataset& of) {
  std::vector<std::string> texts;
  for (field each : of.fields()) {
    each.classes = {};
    texts.push_back(to_string(each));
  }
  return texts;
}

std::string words_of(std::uint64_t number) {
  return std::to_string(number);
}
std::string words_of(std::string text) {
  return text;
}
std::string words_of(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : "; ") + each;
  return texts.empty() ? "none" : text;
}
std::string words_of(partial_batch policy) {
  return std::string{name_of(policy)};
}

/// @param what "the dataset's samples"
template <class Value>
void require_same(const char* what, const Value& of_state, const Value& own,
                  const std::string& remedy) {
  if (of_state == own) return;
  throw usage_error{"loader::seek: the state is of another run: " + std::string{what} + " are " +
                    words_of(of_state) + " in the state, and " + words_of(own) +
                    " in this loader; " + remedy};
}

}  // namespace

progress::progress(dataset_ptr dataset, sampler order, const loader_options& options,
                   std::uint64_t batches)
    : dataset_{std::move(dataset)},
      order_{std::move(order)},
      batches_{batches},
      world_{static_cast<std::uint64_t>(options.shard.world)},
      on_error_{options.errors.action},
      substitute_{on_error_ == error_action::substitute ? options.errors.substitute : 0},
      own_{identity_of(*dataset_, order_, options)} {}

epoch_place progress::begin_of(std::uint64_t epoch) {
  if (sought_ && epoch != at_.epoch) {
    throw usage_error{"after loader::seek to batch " + std::to_string(at_.batch) + " of epoch " +
                      std::to_string(at_.epoch) + ", epoch " + std::to_string(epoch) +
                      " was asked for: begin the loop over epochs at state.epoch"};
  }
  if (!asked_ && !sought_) at_ = {epoch, 0};
  asked_ = true;
  return std::exchange(sought_, false) ? at_ : epoch_place{epoch, 0};
}

void progress::seek(const loader_state& to) {
  const loader_state own = state({to.epoch, to.batch});
  const std::string same_data = "give it the dataset that the state was taken with";
  require_same("the dataset's samples", to.samples, own.samples, same_data);
  if (to.fields != fields_without_classes(*dataset_))
    require_same("the dataset's fields", to.fields, own.fields, same_data);
  require_same("samples in a global batch", to.global_batch, own.global_batch,
               remedy_for(to.global_batch));
  const std::string same_order = "give it the same sampler, with the same seed and options";
  require_same("positions in an epoch", to.positions, own.positions, same_order);
  if (has_order(to.batch))
    require_same("fingerprints of the order", to_hex(to.order), to_hex(own.order), same_order);
  require_same("policies for a partial batch", to.partial_batch, own.partial_batch,
               "set loader_options::partial_batch to the state's");
  require_same("transform seeds", to.transform_seed, own.transform_seed,
               "set loader_options::seed to the state's");
  require_same("transforms", to.transforms, own.transforms,
               "set loader_options::transforms and mixing to the state's");
  if (to.batch > batches_) {
    throw usage_error{"loader::seek: the state is at batch " + std::to_string(to.batch) +
                      " of epoch " + std::to_string(to.epoch) + ", and an epoch has " +
                      std::to_string(batches_) + " batches: say 0 to " + std::to_string(batches_)};
  }
  const std::uint64_t most = on_error_ == error_action::skip ? own.positions : 0;
  if (to.skipped > most) {
    throw usage_error{"loader::seek: in the state's epoch " + std::to_string(to.skipped) +
                      " samples were left out and replaced by others, and this loader allows for " +
                      std::to_string(most) +
                      ": set loader_options::errors.action to skip, in one process, or continue "
                      "with the next epoch"};
  }
  check_losses(to);
  at_ = {to.epoch, to.batch};
  if (world_ == 1) at_.losses = {to.unreadable, to.skipped};  // else those of all ranks together
  sought_ = true;
}

void progress::check_losses(const loader_state& to) const {
  const auto refuse = [&](const std::string& why) {
    throw usage_error{"loader::seek: the state is impossible: before batch " +
                      std::to_string(to.batch) + " of epoch " + std::to_string(to.epoch) + ", " +
                      std::to_string(to.unreadable) + " samples could not be read (unreadable), " +
                      std::to_string(to.skipped) + " of them were left out (skipped), " + why +
                      ": seek with what loader::state or from_json gave, unchanged"};
  };
  if (to.skipped > to.unreadable) refuse("which is more");
  const std::uint64_t places =
      checked_multiply(to.batch, own_.global_batch).value_or(own_.positions);
  const std::uint64_t before = std::min(places, own_.positions);
  if (to.unreadable - to.skipped > before || (before == 0 && to.skipped != 0))
    refuse("and the epoch has " + std::to_string(before) + " samples before it");
  const std::uint64_t left = own_.positions - to.skipped;
  const std::uint64_t batches = own_.partial_batch == partial_batch::drop
                                    ? left / own_.global_batch
                                    : divide_up(left, own_.global_batch);
  if (to.skipped != 0 && to.batch > batches)
    refuse("and with the others the epoch has " + std::to_string(batches) + " batches");
}

loader_state progress::state(epoch_place at) const {
  loader_state state = own_;
  state.epoch = at.epoch;
  state.batch = at.batch;
  if (world_ == 1) {  // else each rank has its own, and a state must be the same for all
    state.unreadable = at.losses.unreadable;
    state.skipped = at.losses.skipped;
  }
  if (has_order(at.batch)) state.order = order_of(at.epoch);
  return state;
}

bool progress::has_order(std::uint64_t batch) const noexcept {
  return batch != 0 || !order_.has_digests();
}

std::uint64_t progress::order_of(std::uint64_t epoch) const {
  if (const auto digest = order_.digest(own_.samples, epoch)) return *digest;
  if (!order_fingerprint_) order_fingerprint_ = fingerprint();
  return *order_fingerprint_;
}

std::uint64_t progress::digest() const {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t value) { hash = mix(hash + golden_gamma + mix(value)); };
  for (const char byte : to_json(state({}))) add(static_cast<unsigned char>(byte));
  if (order_.has_digests()) add(order_of(0));
  add(world_);
  add(static_cast<std::uint64_t>(on_error_));
  add(substitute_);
  return hash;
}

/// Must not change between versions, because states contain it. Asks for runs of positions, because
/// some samplers compute a block of them to tell one.
std::uint64_t progress::fingerprint() const {
  constexpr std::uint64_t epochs = 2;
  constexpr std::uint64_t runs = 16;
  std::array<sample_index, 4> found;
  const auto run = std::span{found}.first(std::min<std::uint64_t>(found.size(), own_.positions));
  const std::uint64_t last = own_.positions - run.size();
  std::uint64_t hash = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint64_t number = 0; number < runs; ++number) {
      // Spread as evenly as possible, including the epoch's first and last positions.
      const position at{last / (runs - 1) * number + last % (runs - 1) * number / (runs - 1)};
      order_.indices(own_.samples, epoch, at, run);
      for (const sample_index sample : run) hash = mix(hash + golden_gamma + mix(sample.value));
    }
  }
  if (const auto identity = order_.identity()) hash = mix(hash + golden_gamma + mix(*identity));
  return hash;
}

std::string progress::remedy_for(std::uint64_t global_batch) const {
  const std::string world = std::to_string(world_);
  if (global_batch % world_ != 0)
    return "a world of " + world + " does not divide the state's: use a world that does";
  return "set loader_options::batch_size to " + std::to_string(global_batch / world_) +
         " for a world of " + world;
}

}  // namespace feedline::detail
