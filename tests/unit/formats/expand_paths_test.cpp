#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/formats/tokens.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"

#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
namespace fs = std::filesystem;

namespace {

/// A folder with files of one byte, which is their number in order.
class files {
 public:
  explicit files(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::vector<std::byte> bytes{std::byte(i)};
      (void)folder_.write(names[i], bytes);
    }
  }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  /// The names that patterns of this folder stand for.
  [[nodiscard]] std::vector<std::string> named_by(const std::vector<std::string>& patterns) const {
    std::vector<std::string> paths;
    for (const std::string& pattern : patterns) paths.push_back(path(pattern));
    std::vector<std::string> names;
    for (const fs::path found : expand_paths(paths)) {
      CHECK(found.parent_path() == folder_.path());
      names.push_back(found.filename());
    }
    return names;
  }

 private:
  temporary_directory folder_;
};

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("paths: a range in braces is each of its numbers, with as many digits as it is written",
          "[dataset][host]") {
  const files in{{"s-08", "s-09", "s-10", "s-8", "s-9", "a1b08", "a1b09", "a2b08", "a2b09"}};
  CHECK(in.named_by({"s-{08..10}"}) == names{"s-08", "s-09", "s-10"});
  CHECK(in.named_by({"s-{8..10}"}) == names{"s-8", "s-9", "s-10"});
  CHECK(in.named_by({"s-{09..09}"}) == names{"s-09"});
  CHECK(in.named_by({"a{1..2}b{08..09}"}) == names{"a1b08", "a1b09", "a2b08", "a2b09"});
  CHECK(in.named_by({"s-9", "s-{8..8}", "s-10"}) == names{"s-9", "s-8", "s-10"});
}

TEST_CASE("paths: a glob's matches are sorted by their bytes", "[dataset][host]") {
  const files in{{"b2.npy", "a1.npy", "B1.npy", "b10.npy", ".hidden.npy", "c.txt"}};
  CHECK(in.named_by({"*.npy"}) == names{"B1.npy", "a1.npy", "b10.npy", "b2.npy"});
  CHECK(in.named_by({"[ab]?.npy"}) == names{"a1.npy", "b2.npy"});
  CHECK(in.named_by({"?{1..2}*"}) == names{"B1.npy", "a1.npy", "b10.npy", "b2.npy"});
}

TEST_CASE("paths: a name that is there as it stands is no pattern", "[dataset][host]") {
  const files in{{"x[1].npy", "x1.npy", "y{1..2}", "y1", "y2", "z*", "zz"}};
  CHECK(in.named_by({"x[1].npy", "y{1..2}", "z*"}) == names{"x[1].npy", "y{1..2}", "z*"});
  CHECK(in.named_by({"nothing", "{a,b}", "{1..x}", "}{", "{..}"}) ==
        names{"nothing", "{a,b}", "{1..x}", "}{", "{..}"});
  CHECK(expand_paths({}).empty());
}

TEST_CASE("paths: a pattern that matches nothing, or not all of its range, is refused by name",
          "[dataset][host]") {
  const files in{{"s0", "s1", "s3"}};
  const auto refusal = [&](const std::string& pattern) {
    return message_of<dataset_error>([&] { (void)expand_paths({in.path(pattern)}); });
  };
  CHECK(refusal("*.npy") == in.path("*.npy").string() + ": no file or folder matches this pattern");
  CHECK(refusal("s{0..3}") == in.path("s2").string() + ": no such file or folder, which " +
                                  in.path("s{0..3}").string() + " names");
  const auto misuse = [&](const std::string& pattern) {
    return message_of<usage_error>([&] { (void)expand_paths({pattern}); });
  };
  CHECK(misuse("s{3..0}") ==
        "s{3..0}: the range from 3 to 0 runs backwards; write its smaller number first");
  CHECK(misuse("s{0..1000000}") == "s{0..1000000}: a range may have 1000000 numbers at most");
  CHECK(misuse("{0..9999}{0..9999}").find(" numbers at most") != std::string::npos);
}

TEST_CASE("paths: openers of several files take patterns", "[dataset][host]") {
  const files in{{"s0", "s1", "s2"}};
  const auto records = open_records({in.path("s{0..2}")}, {{"x", element_type::u8}});
  CHECK(records->size() == 3);
  CHECK(read_sample(*records, sample_index{2}).front().front() == std::byte{2});
  CHECK(open_records({in.path("s*")}, {{"x", element_type::u8}})->size() == 3);
  const auto words = [&](auto&& open) { return message_of<dataset_error>(open); };
  const std::string none = in.path("t*").string() + ": no file or folder matches this pattern";
  CHECK(words([&] { (void)open_tokens({in.path("t*")}, {.tokens_per_sample = 1}); }) == none);
  CHECK(words([&] { (void)open_cifar10({in.path("t*")}); }) == none);
  CHECK(words([&] { (void)open_cifar100({in.path("t*")}); }) == none);
}
