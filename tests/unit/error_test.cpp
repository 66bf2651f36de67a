#include <feedline/error.hpp>

#include "support/checks/catch.hpp"

#include <exception>
#include <stdexcept>
#include <string>

using namespace feedline;

TEST_CASE("error: a dataset error's message has path, field, sample, byte and cause",
          "[dataset][host]") {
  const dataset_error whole{{"a.idx", "image", 7, 16}, "cut short"};
  CHECK(std::string{whole.what()} == "a.idx: field 'image', sample 7, byte 16: cut short");
  CHECK(whole.sample() == 7);
  CHECK(whole.message() == "cut short");
  const dataset_error bare{{}, "cut short"};
  CHECK(std::string{bare.what()} == "cut short");
}

TEST_CASE("error: a stage error says stage, epoch, batch and ticket, quotes its cause and keeps it",
          "[loader][host]") {
  const stage_error failure{
      {.stage = stage::transfer, .epoch = 2, .ticket = 5, .batch = 40, .path = {}},
      std::make_exception_ptr(std::runtime_error{"the bus is on fire"})};
  CHECK(std::string{failure.what()} ==
        "the transfer stage failed in epoch 2, batch 40: the bus is on fire");
  CHECK_THROWS_AS(std::rethrow_exception(failure.cause()), std::runtime_error);
}

TEST_CASE("error: a cause that is no std::exception is reported, too", "[loader][host]") {
  const stage_error failure{{.path = {}}, std::make_exception_ptr(42)};
  CHECK(std::string{failure.what()}.find("no std::exception") != std::string::npos);
}
