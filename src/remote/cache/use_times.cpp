#include "remote/cache/use_times.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace feedline::detail {

const use_table* use_times::plan::table(std::uint64_t of_epoch) const noexcept {
  const auto found =
      std::ranges::find(tables, of_epoch, [](const auto& each) { return each->epoch; });
  return found == tables.end() ? nullptr : found->get();
}

double use_times::tick() noexcept {
  for (plan& each : plans_) {
    const std::uint64_t now = each.forecast->now();
    // Readers are a little before and after each other; and a loader may be set back.
    if (now > each.seen)
      clock_ +=
          static_cast<double>(now - each.seen) / static_cast<double>(each.forecast->positions());
    if (now > each.seen || each.seen - now > each.forecast->positions() / 2) each.seen = now;
  }
  return clock_;
}

void use_times::plan::ask(const block_id& block, answer& all) const {
  const std::uint64_t positions = forecast->positions();
  const std::uint64_t now = seen % positions;
  const auto time = [&](std::uint64_t from_now) {
    return static_cast<double>(from_now) / static_cast<double>(positions);
  };
  const use_table* const this_epoch = table(epoch());
  if (this_epoch == nullptr) return;
  if (std::ranges::any_of(tables, [&](const auto& each) { return each->find(block.object); }))
    all.is_of_loader = true;
  const block_use use = this_epoch->at(block);
  bool is_known = use.is_any();
  if (use.is_any() && use.last >= now) {
    all.is_needed = true;
    all.is_in_use = all.is_in_use || use.first < now;
    all.next = std::min(all.next, time(use.first > now ? use.first - now : 0));
    all.bytes = std::max(all.bytes, use.bytes);
  }
  for (std::uint64_t ahead = 1; ahead < kept_epochs; ++ahead) {
    const use_table* const later = table(epoch() + ahead);
    if (later == nullptr) {
      if (ahead == 1 && forecast->has_epoch(epoch() + 1)) all.sees_reuse = false;
      break;
    }
    const block_use again = later->at(block);
    if (!again.is_any()) continue;
    is_known = all.is_needed = true;
    all.bytes = std::max(all.bytes, again.bytes);
    if (const double reuse = time(ahead * positions - now + again.first); reuse < all.reuse) {
      all.reuse = reuse;
      all.reuse_end = time((ahead + 1) * positions - now);
    }
    all.next = std::min(all.next, all.reuse);
    break;
  }
  if (!is_known) return;
  all.is_known = true;
  all.is_shared = all.is_shared || forecast->is_shared();
}

use_times::answer use_times::ask(const block_id& block) const {
  answer all;
  for (const plan& each : plans_) each.ask(block, all);
  return all;
}

std::optional<use_times::missing> use_times::find_missing() const {
  for (std::uint64_t ahead = 0; ahead < kept_epochs; ++ahead)
    for (const plan& each : plans_) {
      const std::uint64_t epoch = each.epoch() + ahead;
      if (!each.forecast->is_ended() && each.forecast->has_epoch(epoch) &&
          each.table(epoch) == nullptr)
        return missing{each.forecast, epoch};
    }
  return std::nullopt;
}

std::vector<std::shared_ptr<const use_table>> use_times::tables_of(const read_forecast& loader,
                                                                   std::uint64_t epoch) const {
  std::vector<std::shared_ptr<const use_table>> found;
  for (const plan& each : plans_)
    if (each.forecast.get() == &loader)
      std::ranges::copy_if(each.tables, std::back_inserter(found),
                           [&](const auto& table) { return table->epoch >= epoch; });
  return found;
}

bool use_times::drop_ended() {
  return std::erase_if(plans_, [](const plan& each) { return each.forecast->is_ended(); }) != 0;
}

void use_times::add(const std::shared_ptr<read_forecast>& of,
                    std::shared_ptr<const use_table> table) {
  for (plan& each : plans_)
    if (each.forecast == of) {
      std::erase_if(each.tables, [&](const auto& old) {
        return old->epoch < each.epoch() || old->epoch >= each.epoch() + kept_epochs;
      });
      each.tables.push_back(std::move(table));
    }
}

}  // namespace feedline::detail
