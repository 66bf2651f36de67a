#include "cuda/page_uses.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

using feedline::detail::page_uses;

namespace {

constexpr std::uintptr_t page = page_uses::page_bytes;

/// Memory that nobody reads, by page numbers and bytes beside them.
std::span<const std::byte> memory(std::uintptr_t first_page, std::uintptr_t end_page,
                                  std::size_t begin_in_page = 0, std::size_t less_at_end = 0) {
  const std::uintptr_t begin = first_page * page + begin_in_page;
  return {reinterpret_cast<const std::byte*>(begin), end_page * page - less_at_end - begin};
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

TEST_CASE("page uses: pages are those that memory touches", "[cuda][host]") {
  const page_uses::range two{3 * page, 5 * page};
  CHECK(page_uses::pages_of(memory(3, 5)) == two);
  CHECK(page_uses::pages_of(memory(3, 5, 4095, 4095)) == two);
  CHECK(page_uses::pages_of(memory(3, 4, 1, 4094)) == page_uses::range{3 * page, 4 * page});
}

TEST_CASE("page uses: a page that two arrays share stays pinned until both are gone",
          "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  const auto first = memory(1, 3, 0, 100);
  const auto second = memory(2, 5, page - 100);
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

TEST_CASE("page uses: nothing is pinned for no bytes", "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  uses.add({});
  uses.remove({});
  CHECK(system.calls == 0);
}

TEST_CASE("page uses: what somebody else pinned is not unpinned", "[cuda][host]") {
  pretended_system system;
  system.users = {2, 3};
  page_uses uses = system.uses();
  uses.add(memory(1, 6));
  uses.add(memory(3, 4));
  CHECK(system.ours == numbers{1, 4, 5});
  uses.remove(memory(1, 6));
  CHECK(system.ours.empty());
  uses.remove(memory(3, 4));
  CHECK(system.faults == 0);
}

TEST_CASE("page uses: a refusal changes nothing", "[cuda][host]") {
  pretended_system system;
  page_uses uses = system.uses();
  uses.add(memory(4, 5));
  system.failing_call = 3;  // the gap behind page 4; the one before it was pinned
  CHECK_THROWS_AS(uses.add(memory(2, 8)), std::runtime_error);
  CHECK(system.ours == numbers{4});
  uses.add(memory(2, 8));
  uses.remove(memory(2, 8));
  CHECK(system.ours == numbers{4});
  uses.remove(memory(4, 5));
  CHECK(system.ours.empty());
  CHECK(system.faults == 0);
}

TEST_CASE("page uses: arrays that come and go at random keep exactly their pages pinned",
          "[cuda][host]") {
  std::mt19937_64 random{5};
  pretended_system system;
  system.users = {10, 11, 30};
  page_uses uses = system.uses();
  std::vector<std::span<const std::byte>> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() < 8 && random() % 2 == 0) {
      const std::uintptr_t first = 1 + random() % 40;
      held.push_back(memory(first, first + 1 + random() % 10, random() % 100, random() % 100));
      uses.add(held.back());
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      uses.remove(held.back());
      held.pop_back();
    }
    for (const auto& each : held) {
      const auto pages = page_uses::pages_of(each);
      for (std::uintptr_t at = pages.begin; at < pages.end; at += page) {
        if (system.ours.count(at / page) + system.users.count(at / page) == 0) ++system.faults;
      }
    }
    if (held.empty() && !system.ours.empty()) ++system.faults;
  }
  CHECK(system.faults == 0);
}
