#include "cuda/page_uses.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

using feedline::detail::page_uses;

namespace {

constexpr std::uintptr_t page = 4096;

page_uses::range numbered(std::uintptr_t first, std::uintptr_t end) {
  return {first * page, end * page};
}

/// A system that pins pages, by number, and refuses what a real one would.
struct pretended_system {
  std::set<std::uintptr_t> ours;
  std::set<std::uintptr_t> users;
  std::uint64_t calls = 0;
  std::uint64_t failing_call = 0;
  std::uint64_t faults = 0;

  std::vector<page_uses::piece> pin(page_uses::range pages) {
    if (++calls == failing_call) throw std::runtime_error{"told to fail"};
    std::vector<page_uses::piece> pieces;
    for (std::uintptr_t at = pages.begin; at < pages.end; at += page) {
      const bool is_users = users.count(at / page) != 0;
      if (!is_users && !ours.insert(at / page).second) ++faults;  // twice
      pieces.push_back({{at, at + page}, !is_users});
    }
    return pieces;
  }
  void unpin(page_uses::range pages) {
    for (std::uintptr_t at = pages.begin; at < pages.end; at += page)
      faults += 1 - ours.erase(at / page);
  }
  page_uses uses() {
    return page_uses{[this](page_uses::range pages) { return pin(pages); },
                     [this](page_uses::range pages) { unpin(pages); }};
  }
};

using numbers = std::set<std::uintptr_t>;

}  // namespace

TEST_CASE("page uses: a page that two arrays have stays pinned until both are gone",
          "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  const auto first = numbered(1, 3);
  const auto second = numbered(2, 5);
  uses.add(first);
  CHECK(system.ours == numbers{1, 2});
  uses.add(second);
  CHECK(system.ours == numbers{1, 2, 3, 4});
  SECTION("the first goes first: its pages are one piece, and stay with the shared one") {
    uses.remove(first);
    CHECK(system.ours.count(2) == 1);
    uses.remove(second);
  }
  SECTION("the second goes first") {
    uses.remove(second);
    CHECK(system.ours == numbers{1, 2});
    uses.remove(first);
  }
  CHECK(system.ours.empty());
  CHECK(system.faults == 0);
}

TEST_CASE("page uses: nothing is pinned for no pages", "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  uses.add(numbered(3, 3));
  uses.remove(numbered(3, 3));
  CHECK(system.calls == 0);
}

TEST_CASE("page uses: pages that other code pinned are not unpinned", "[cuda][host]") {
  pretended_system system;
  system.users = {2, 3};
  page_uses uses = system.uses();
  uses.add(numbered(1, 6));
  uses.add(numbered(3, 4));
  CHECK(system.ours == numbers{1, 4, 5});
  uses.remove(numbered(1, 6));
  CHECK(system.ours.empty());
  uses.remove(numbered(3, 4));
  CHECK(system.faults == 0);
}

TEST_CASE("page uses: a refusal changes nothing", "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  uses.add(numbered(4, 5));
  system.failing_call = 3;  // the gap after page 4; the one before it was pinned
  CHECK_THROWS_AS(uses.add(numbered(2, 8)), std::runtime_error);
  CHECK(system.ours == numbers{4});
  uses.add(numbered(2, 8));
  uses.remove(numbered(2, 8));
  CHECK(system.ours == numbers{4});
  uses.remove(numbered(4, 5));
  CHECK(system.ours.empty());
  CHECK(system.faults == 0);
}

TEST_CASE("page uses: arrays that come and go at random keep exactly their pages pinned",
          "[cuda][host]") {
  std::mt19937_64 random{5};
  pretended_system system;
  system.users = {10, 11, 30};
  page_uses uses = system.uses();
  std::vector<page_uses::range> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() < 8 && random() % 2 == 0) {
      const std::uintptr_t first = 1 + random() % 40;
      held.push_back(numbered(first, first + 1 + random() % 10));
      uses.add(held.back());
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      uses.remove(held.back());
      held.pop_back();
    }
    for (const auto& each : held) {
      for (std::uintptr_t at = each.begin; at < each.end; at += page) {
        if (system.ours.count(at / page) + system.users.count(at / page) == 0) ++system.faults;
      }
    }
    if (held.empty() && !system.ours.empty()) ++system.faults;
  }
  CHECK(system.faults == 0);
}
