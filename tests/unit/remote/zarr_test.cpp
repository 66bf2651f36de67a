/// Zarr stores that a web server has: one object for each chunk, and no lists.

#include <feedline/arrays/array_source.hpp>
#include <feedline/formats/zarr.hpp>

#include "support/checks/catch.hpp"
#include "support/files/zarr_folder.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("remote: chunks of a Zarr store take one request each, and absent ones are filled",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  const std::string metadata = zarr_v2("[5]", "[2]", R"("<i2")", "", "null", "-7");
  const auto bytes = std::as_bytes(std::span{metadata});
  server.put("/a.zarr/.zarray", {bytes.begin(), bytes.end()});
  server.put("/a.zarr/0", memory_of<std::int16_t>({1, 2}));
  server.put("/a.zarr/2", memory_of<std::int16_t>({5, 6}));
  const array_ptr array = open_zarr_array(server.address("/a.zarr"), "");
  (void)server.take_requests();
  byte_vector read(10);
  array->read_all(read);
  CHECK(read == memory_of<std::int16_t>({1, 2, -7, -7, 5}));
  const auto requests = server.take_requests();
  CHECK(std::ranges::count(requests, "/a.zarr/0", &http_request::path) == 1);
  CHECK(std::ranges::count(requests, "/a.zarr/2", &http_request::path) == 1);
}
