#include "loader/plan/live_options.hpp"

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "queue/live_source.hpp"

#include <string>

namespace feedline::detail {
namespace {

void require(bool holds, const std::string& what, const std::string& advice) {
  if (!holds) throw usage_error{"a loader of a queue: " + what + ": " + advice};
}

}  // namespace

bool is_live(const dataset& of) noexcept {
  return dynamic_cast<const live_source*>(&of) != nullptr;
}

loader_options options_for_live(loader_options options, const sampler& order) {
  require(order.target<sequential>() != nullptr, "the sampler is not sequential",
          "samples come in the order in which they were put");
  require(options.shard.world == 1, "loader_options::shard has a world of several",
          "make a queue in each process, and put each sample into one of them");
  require(options.partial_batch == partial_batch::keep, "loader_options::partial_batch is not keep",
          "each batch may be partial, and its samples are not thrown away");
  require(options.readers == automatic_readers || options.readers == 1,
          "loader_options::readers is " + std::to_string(options.readers),
          "one reader takes the samples, say 1 or automatic_readers");
  require(options.placement == placement::automatic || options.placement == placement::stream,
          "loader_options::placement is " + std::string{to_string(options.placement)},
          "samples come once, say stream or automatic");
  require(!options.mixing, "loader_options::mixing is set",
          "samples are mixed with others of a batch, whose number varies");
  require(options.errors.action == error_action::fail, "loader_options::errors handles samples",
          "no sample of a queue can be unreadable, leave it out");
  require(options.expert.batches_per_slot <= 1,
          "loader_options::expert.batches_per_slot is " +
              std::to_string(options.expert.batches_per_slot),
          "a batch is delivered as soon as it is there, leave it out");
  const tuning_budget& tuning = options.expert.tuning;
  require(tuning.max_readers == 0 && tuning.max_pinned_bytes == 0,
          "loader_options::expert.tuning is set", "one reader takes the samples, leave it out");
  require(options.expert.piece_bytes == 0 && options.expert.request_bytes == 0,
          "loader_options::expert.piece_bytes or request_bytes is set",
          "a batch is read and copied as a whole, leave them out");
  constexpr std::size_t whole_batch = std::size_t{1} << 50;
  options.readers = 1;
  options.placement = placement::stream;
  options.expert.batches_per_slot = 1;
  options.expert.piece_bytes = whole_batch;
  options.expert.request_bytes = whole_batch;
  return options;
}

}  // namespace feedline::detail
