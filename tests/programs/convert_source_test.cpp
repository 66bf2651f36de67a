#include <feedline/error.hpp>

#include "programs/convert/conversion.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#ifdef FEEDLINE_TEST_REMOTE
#include "support/http/server.hpp"
#endif

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("convert: inputs stand side by side, under the names they are given", "[samples][host]") {
  const temporary_directory folder;
  const auto images = folder.write("images", idx_file_bytes(0x08, {10, 5, 3}, 150)).string();
  const auto labels = folder.write("labels", gzip_bytes(idx_file_bytes(0x0b, {10}, 20))).string();
  const auto few = folder.write("few", idx_file_bytes(0x08, {4}, 4)).string();
  const auto both = convert::open_source({"image=" + images, "label=" + labels});
  CHECK(both.samples->fields() ==
        std::vector<field>{{"image", element_type::u8, {5, 3}}, {"label", element_type::i16, {}}});
  CHECK(both.words.find("from image=" + images + ", 166 bytes, changed at 20") !=
        std::string::npos);
  CHECK(read_sample(*both.samples, {3})[1] == bytes_of({0x07, 0x06}));

  const auto refusal = [](const std::vector<std::string>& inputs) {
    return message_of<usage_error>([&] { (void)convert::open_source(inputs); });
  };
  CHECK(refusal({"x=" + images, "x=" + labels}) ==
        labels + ": there is a field 'x' already: name this one with NAME=PATH");
  CHECK(refusal({"x=" + images, "y=" + few}) == few + ": has 4 samples, and " + images + " has 10");
  CHECK(refusal({folder.path() / "nothing"}) ==
        (folder.path() / "nothing").string() + ": no such file or folder");
}

#ifdef FEEDLINE_TEST_REMOTE
TEST_CASE("convert: an input may be an address, and its version says whether it changed",
          "[samples][host]") {
  http_server server;
  server.put("/images", idx_file_bytes(0x08, {10, 5, 3}, 150), "\"v1\"");
  const std::string address = server.address("/images");
  const auto one = convert::open_source({"image=" + address + "?signature=hidden"});
  CHECK(one.samples->size() == 10);
  CHECK(one.words.find("from image=" + address + "?..., version 166 \"v1\"") != std::string::npos);
  CHECK(one.words.find("hidden") == std::string::npos);
  CHECK(message_of<usage_error>([&] { (void)convert::open_source({server.address("/none")}); }) ==
        server.address("/none") + ": no such file or folder");
  server.set_script([](const auto&) { return http_fault::status(403); });
  const std::string refused =
      message_of<dataset_error>([&] { (void)convert::open_source({server.address("/other")}); });
  CHECK(refused.find("403 Scripted: it gives no access") != std::string::npos);
}
#endif

TEST_CASE("convert: shards that a pattern names are one input, one after the other",
          "[samples][host]") {
  const temporary_directory folder;
  for (const int shard : {0, 1, 2}) {
    const auto number = std::to_string(9 + shard);
    const auto digits = std::string(4 - number.size(), '0') + number;
    (void)folder.write("x-" + digits, idx_file_bytes(0x08, {3}, 3));
    (void)folder.write("y-" + digits, idx_file_bytes(0x08, {3, 2}, 6));
  }
  const auto at = folder.path().string() + '/';
  const auto both = convert::open_source({"label=" + at + "x-{0009..0011}", at + "y-*"});
  CHECK(both.samples->size() == 9);
  CHECK(both.samples->fields() ==
        std::vector<field>{{"label", element_type::u8, {}}, {"image", element_type::u8, {2}}});
  const auto first = read_sample(*both.samples, {0});
  CHECK(read_sample(*both.samples, {3}) == first);
  CHECK(read_sample(*both.samples, {8}) != first);
  for (const char* shard : {"x-0009", "x-0011", "y-0010"})
    CHECK(both.words.find("\n  " + at + shard + ", ") != std::string::npos);
  CHECK(convert::paths_of({"x=" + at + "x-*"}).size() == 3);
  CHECK(message_of<dataset_error>([&] { (void)convert::open_source({at + "z-*"}); }) ==
        at + "z-*: no file or folder matches this pattern");

  // An input is safe by its pattern too.
  convert::job job{.output = at + "y-0010", .force = true};
  job.inputs = convert::paths_of({at + "y-*"});
  CHECK(message_of<usage_error>([&] {
          (void)convert::run(both.samples, job, {});
        }).find(": is the input ") != std::string::npos);
}

TEST_CASE("convert: a time of change is printed as people read it, to the nanosecond",
          "[samples][host]") {
  const temporary_directory folder;
  const auto file = folder.write("labels", idx_file_bytes(0x08, {4}, 4)).string();
  const std::array<timespec, 2> times{{{0, 0}, {1'772'385'605, 45'000'678}}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0);
  const auto words = convert::open_source({file}).words;
  INFO(words);
  CHECK(words.find("bytes, changed at 2026-03-01 17:20:05.045000678 UTC\n") != std::string::npos);
}
