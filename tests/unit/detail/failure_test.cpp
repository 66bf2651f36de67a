#include "detail/failure.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <exception>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::failure_table;

namespace {

void report(failure_table& board, std::uint64_t ticket, const std::string& what) {
  detail::failure failed;
  failed.where.stage = stage::reader;
  failed.where.ticket = ticket;
  failed.cause = std::make_exception_ptr(std::runtime_error{what});
  board.report(std::move(failed));
}

}  // namespace

TEST_CASE("failure: an empty table throws nothing", "[detail][host]") {
  const failure_table board;
  CHECK_NOTHROW(board.rethrow());
}

TEST_CASE("failure: the first one recorded stays, and is thrown each time, with stage and cause",
          "[detail][host]") {
  failure_table board;
  report(board, 3, "first");
  report(board, 1, "second");
  for (int i = 0; i < 3; ++i) {
    CHECK(test::message_of<stage_error>([&] { board.rethrow(); }) ==
          "the reader stage failed in epoch 0, batch 0: first");
  }
  try {
    board.rethrow();
  } catch (const stage_error& error) {
    CHECK(error.where().ticket == 3);
    CHECK_THROWS_AS(std::rethrow_exception(error.cause()), std::runtime_error);
  }
}

// Called where another exception could not be reported.
static_assert(
    noexcept(std::declval<failure_table&>().report(std::declval<feedline::detail::failure>())));

TEST_CASE("failure: if several threads fail at once, one wins, for good", "[detail][host]") {
  constexpr std::uint64_t count = 4;
  failure_table board;
  std::latch gate{count};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      gate.arrive_and_wait();
      report(board, i, "thread " + std::to_string(i));
    });
  }
  for (auto& thread : threads) thread.join();
  const auto thrown = test::message_of<stage_error>([&] { board.rethrow(); });
  CHECK(thrown.find(": thread ") != std::string::npos);
  CHECK(test::message_of<stage_error>([&] { board.rethrow(); }) == thrown);
}
