#include "remote/cache/download_simulation.hpp"

#include "remote/cache/cache_folder.hpp"
#include "remote/cache/keep_order.hpp"
#include "remote/cache/keep_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

/// A loader of which only the times are known.
class simulated_reader final : public read_forecast {
 public:
  using read_forecast::read_forecast;

 private:
  [[nodiscard]] bool do_record(std::uint64_t, std::uint64_t, std::size_t,
                               range_recorder&) noexcept override {
    return false;
  }
};

struct level {
  bool is_folder;
  std::uint64_t max_bytes;
  std::uint64_t bytes = 0;
  keep_order order = {};

  [[nodiscard]] std::uint64_t counted(std::uint64_t block) const noexcept {
    return is_folder ? cache_folder::counted(block) : block;
  }
};

/// One run; the steps of `object_cache`, in the order of the blocks' first uses.
class simulated_cache {
 public:
  simulated_cache(const download_simulation::tables& epochs, std::shared_ptr<read_forecast> reader,
                  const download_simulation::room& most, const download_simulation::holding& held)
      : epochs_{epochs},
        levels_{level{true, most.folder, held.others.folder},
                level{false, most.memory, held.others.memory}} {
    reader->reached(epochs.front()->epoch, 0);
    times_.add(reader);
    reader_ = std::move(reader);
    clock_ = times_.tick();
    foresee();
    const std::array<const std::unordered_map<std::uint64_t, std::uint64_t>*, 2> kept{&held.folder,
                                                                                      &held.memory};
    times_.for_each([&](const block_id& id) {
      for (std::size_t i = 0; i < levels_.size(); ++i) {
        const auto found = kept[i]->find(id.key());
        if (found == kept[i]->end() || levels_[i].order.has(id.key())) continue;
        levels_[i].bytes += levels_[i].counted(found->second);
        hold(levels_[i], id, found->second);
      }
    });
  }

  /// The next epoch. @param epoch Its uses by this machine.
  [[nodiscard]] std::uint64_t read(const use_table& epoch) {
    reader_->reached(epoch.epoch, 0);
    (void)times_.tick();
    foresee();
    std::vector<std::pair<std::uint64_t, block_id>> in_order;
    epoch.for_each([&](const block_id& id) {
      if (const block_use use = epoch.at(id); use.is_any()) in_order.emplace_back(use.first, id);
    });
    std::ranges::sort(in_order, {}, [](const auto& each) {
      return std::pair{each.first, each.second.key()};
    });
    std::uint64_t bytes = 0;
    for (const auto& [first, id] : in_order) {
      reader_->reached(epoch.epoch, first);
      clock_ = times_.tick();
      const bool is_here = std::ranges::any_of(
          levels_, [key = id.key()](const level& each) { return each.order.has(key); });
      if (is_here) continue;
      const std::uint64_t block = epoch.bytes_of(id);
      bytes += keep(id, block) ? block : epoch.at(id).bytes;
    }
    return bytes;
  }

 private:
  /// The loader's order is known for this epoch and the next two.
  void foresee() {
    for (const std::uint64_t last = reader_->now() / reader_->positions() + 2;
         foreseen_ < epochs_.size() && epochs_[foreseen_]->epoch <= last; ++foreseen_)
      times_.add(reader_, epochs_[foreseen_]);
  }

  [[nodiscard]] bool keep(const block_id& id, std::uint64_t bytes) {
    const auto how = keep_rules::judge(times_.ask(id), bytes, clock_);
    if (!how.is_wanted) return false;
    for (level& each : levels_) {
      if (each.max_bytes == 0 || (!each.is_folder && !how.may_be_in_memory)) continue;
      if (!make_room(each, each.counted(bytes), how)) continue;
      hold(each, id, bytes);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool make_room(level& in, std::uint64_t bytes, const keep_rules::wish& how) {
    while (bytes > in.max_bytes || in.bytes > in.max_bytes - bytes) {
      in.order.advance(clock_, [this](const block_id& block) { return needed_at(block); });
      if (!how.may_replace) return false;
      const auto victim = in.order.needed_after(
          how.reuse_end, [this](const block_id& block) { return times_.ask(block).is_in_use; });
      if (!victim) return false;
      in.bytes -= in.counted(in.order.find(*victim)->bytes);
      in.order.remove(*victim);
    }
    in.bytes += bytes;
    return true;
  }

  void hold(level& in, const block_id& id, std::uint64_t bytes) {
    in.order.set(id.key(), {.bytes = bytes, .id = id, .needed_at = needed_at(id)});
  }
  [[nodiscard]] std::optional<double> needed_at(const block_id& block) const {
    return keep_rules::needed_at(times_.ask(block), clock_);
  }

  const download_simulation::tables& epochs_;
  std::size_t foreseen_ = 0;  ///< number of them whose uses are known
  std::array<level, 2> levels_;
  use_times times_;
  std::shared_ptr<read_forecast> reader_;
  double clock_ = 0;
};

}  // namespace

download_simulation::download_simulation(tables epochs, std::uint64_t positions,
                                         std::uint64_t all_epochs, bool is_shared)
    : epochs_{std::move(epochs)},
      positions_{positions},
      all_epochs_{all_epochs},
      is_shared_{is_shared} {}

std::uint64_t download_simulation::needed() const {
  std::uint64_t bytes = 0;
  epochs_.front()->for_each([&](const block_id& id) { bytes += epochs_.front()->at(id).bytes; });
  return bytes;
}

std::uint64_t download_simulation::room_for_all(bool in_folder) const {
  if (epochs_.size() < 2) return 0;
  const use_table& table = *epochs_[1];
  std::uint64_t bytes = 0;
  table.for_each([&](const block_id& id) {
    const std::uint64_t block = table.bytes_of(id);
    const bool is_worth = table.at(id).is_any() && 2 * table.at(id).bytes >= block;
    if (is_worth) bytes += in_folder ? cache_folder::counted(block) : block;
  });
  return bytes;
}

std::vector<std::uint64_t> download_simulation::run(const room& most, const holding& held,
                                                    const tables& read) const {
  simulated_cache cache{
      epochs_, std::make_shared<simulated_reader>(positions_, all_epochs_, is_shared_), most, held};
  std::vector<std::uint64_t> bytes;
  for (const auto& each : read) bytes.push_back(cache.read(*each));
  return bytes;
}

}  // namespace feedline::detail
