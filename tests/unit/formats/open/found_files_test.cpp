// Small files of strangers, of which the table in found/second/README.md says what is right.

#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tokens.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/test_data.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using strings = std::vector<std::string>;

namespace {

std::optional<std::string> find(const std::string& name) {
  const auto path = test::find_test_data("found/second/" + name);
  return path ? std::optional{path->string()} : std::nullopt;
}

constexpr const char* absent = "no found/second: name its folder's parent in FEEDLINE_TEST_DATA";

strings names_of(const dataset& opened) {
  strings names;
  for (const field& each : opened.fields()) names.push_back(each.name);
  return names;
}

std::string refusal(const std::string& path) {
  return test::message_of<dataset_error>([&] { (void)open(path); });
}

}  // namespace

TEST_CASE("open: tar shards of several programs have all of their fields", "[dataset][host]") {
  const auto [name, fields] = GENERATE(table<std::string, strings>({
      {"macos.tar", {"image", "label"}},
      {"v_hidden_between.tar", {"a", "label"}},
      {"v_hidden_first.tar", {"label", "npy"}},
      {"v_hidden_same_ext.tar", {"label", "npy"}},
      {"v_dir.tar", {"label", "npy"}},
      {"v_dotslash.tar", {"label", "npy"}},
      {"v_meta_between.tar", {"label", "npy"}},
      {"v_nodot_between.tar", {"label", "npy"}},
  }));
  CAPTURE(name);
  const auto path = find("tar-order/" + name);
  if (!path) FEEDLINE_SKIP(absent);
  CHECK(names_of(*open(*path)) == fields);
  strings listed;
  for (const listed_field& each : list_fields(*path))
    if (each.left_out.empty()) listed.push_back(each.name);
  CHECK(listed == fields);
}

TEST_CASE("open: tar shards whose labels are elsewhere are refused, or a warning says so",
          "[dataset][host]") {
  const auto by_ext = find("tar-order/by_ext.tar");
  const auto folders = find("tar-order/folders.tar");
  const auto class_shard = find("tar-order/n01440764.tar");
  const auto dotted = find("dotted-keys/x.tar");
  if (!by_ext || !folders || !class_shard || !dotted) FEEDLINE_SKIP(absent);
  CHECK(test::contains(refusal(*by_ext),
                       "the sample '0' has no member for field 'label' (.cls), only .jpg; members "
                       "of a sample follow one another"));
  for (const auto& shard : {*folders, *class_shard}) {
    const test::log_capture log;
    CHECK(names_of(*open(shard)) == strings{"image"});
    CHECK(test::contains(log.text(), "no member is a label (.cls)"));
  }
  CHECK(test::contains(refusal(*dotted), "a sample's name ends at the first dot"));
}

TEST_CASE("tokens: an array of numpy.save and a stranger's archive are read rightly or refused",
          "[dataset][host]") {
  const auto array = find("npy-tokens/tok.npy");
  const auto archive = find("ml-dtypes-npy/bf.npz");
  if (!array || !archive) FEEDLINE_SKIP(absent);
  for (const auto& opened :
       {open_tokens({*array}, {.tokens_per_sample = 10}),
        open_tokens({*array}, {.tokens_per_sample = 10, .type = element_type::u16}),
        open(*array, {.tokens_per_sample = 10})}) {
    CHECK(opened->size() == 9);
    CHECK(opened->fields().front() == field{"input", element_type::u16, {10}});
    const auto sample = test::read_sample(*opened, sample_index{0});
    CHECK(sample[0][0] != std::byte{0x93});
    CHECK(std::equal(sample[0].begin() + 2, sample[0].end(), sample[1].begin()));
  }
  CHECK(open(*array)->fields() == std::vector<field>{{"tok", element_type::u16, {}}});
  CHECK(test::contains(test::message_of<dataset_error>([&] {
                         (void)open_tokens({*archive},
                                           {.tokens_per_sample = 10, .type = element_type::u16});
                       }),
                       "no shard of tokens but a zip archive"));
  const auto message = test::message_of<dataset_error>([&] {
    const auto fields = open_npz(*archive)->fields();
    CHECK(std::ranges::count(fields, element_type::bf16, &field::type) == 1);
  });
  if (test::contains(message, "built without libzip")) return;
  CHECK(message == "[nothing was thrown]");
}
