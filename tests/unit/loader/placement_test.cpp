#include <feedline/loader/placement.hpp>

#include "support/checks/catch.hpp"

using namespace feedline;

TEST_CASE("placement: its text is its name", "[loader][host]") {
  CHECK(to_string(placement::automatic) == "automatic");
  CHECK(to_string(placement::stream) == "stream");
  CHECK(to_string(placement::gather) == "gather");
  CHECK(to_string(placement::resident) == "resident");
  CHECK(to_string(placement::cached) == "cached");
}
