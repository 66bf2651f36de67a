#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;

namespace {

byte_vector labels(int first, int count) {
  test::tar_bytes shard;
  for (int i = first; i < first + count; ++i)
    shard.add(std::to_string(i) + ".cls", std::to_string(i));
  return shard.ended();
}

}  // namespace

TEST_CASE("wids: an index opens its tar shards, and is compared with them", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector first = labels(0, 5);
  const byte_vector second = labels(5, 7);
  (void)folder.write("a.tar", first);
  (void)folder.write("b.tar", second);
  const auto index = [&](std::size_t bytes, int samples, const std::string& url = "b.tar") {
    return folder.write(
        "index.json",
        bytes_in(R"({"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": [)"
                 R"({"url": "a.tar", "md5sum": "x", "nsamples": 5, "filesize": )" +
                 std::to_string(first.size()) + R"(}, {"url": ")" + url + R"(", "nsamples": )" +
                 std::to_string(samples) + R"(, "filesize": )" + std::to_string(bytes) +
                 "}], \"name\": \"x\"}"));
  };
  const std::string path = index(second.size(), 7);
  CHECK(detect_format(path) == "wids");
  const auto data = open(path);
  CHECK(data->size() == 12);
  const auto seen = test::resumed_labels<std::int32_t>(data, "label");
  CHECK(seen.size() == 12);
  for (std::int64_t i = 0; i < 12; ++i) CHECK(seen.count(i) == 1);
  CHECK(list_fields(path).front().samples == 12);
  const auto refusal = [](const std::string& of) {
    return test::message_of<dataset_error>([&] { (void)open(of); });
  };
  CHECK(test::contains(refusal(index(second.size() + 1, 7)),
                       "b.tar: has " + std::to_string(second.size()) + " bytes, but "));
  CHECK(test::contains(refusal(index(second.size(), 8)),
                       "b.tar: has 7 samples, but the index says 8; get both again"));
  CHECK(test::contains(refusal(index(second.size(), 7, "../b.tar")), "not below its folder"));
}
