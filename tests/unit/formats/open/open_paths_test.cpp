#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tokens.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <string>

using namespace feedline;

namespace {

std::string refusal(const std::string& path) {
  return test::message_of<dataset_error>([&] { (void)open(path); });
}

}  // namespace

TEST_CASE("open: the error for an address of another machine names its kind and a remedy",
          "[dataset][host]") {
  CHECK(
      refusal("gs://bucket/train-{000..123}.tar") ==
      "gs://bucket/train-{000..123}.tar: an object of Google Cloud Storage, which is not supported "
      "yet: files are read by paths; copy it to a local disk first (gcloud storage cp "
      "--recursive), or mount it as a file system");
  for (const auto& [given, words] :
       {std::pair{"gs://b/x.h5", "an object of Google Cloud Storage"},
        std::pair{"hf://datasets/a/b", "a data set of Hugging Face"},
        std::pair{"file:///tmp/x.npy",
                  "an address, where a path is wanted; leave 'file://' out"}}) {
    const std::string address = given;
    const std::string begin = address + ": ";
    CHECK(test::contains(refusal(address), begin + words));
    CHECK(test::contains(test::message_of<dataset_error>([&] { (void)list_fields(address); }),
                         words));
    CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open_npy(address, "x"); }),
                         words));
    CHECK(test::contains(test::message_of<dataset_error>(
                             [&] { (void)open_tokens({address}, {.tokens_per_sample = 1}); }),
                         words));
  }
  CHECK(test::contains(refusal("x://y"), "cannot be opened: No such file or directory"));
}

TEST_CASE("open: a folder that is named like an address is opened as any other",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directory("gs:");
  (void)folder.write("gs:/x.npy",
                     test::npy_bytes(test::npy_dictionary("<u2", "(3,)"), test::counting_bytes(6)));
  const auto opened = open("gs://x.npy");
  std::filesystem::current_path(before);
  CHECK(opened->size() == 3);
}

TEST_CASE("open: files with different fields are refused by their paths", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto write = [&](const std::string& name, const std::string& shape) {
    return folder
        .write(name, test::npy_bytes(test::npy_dictionary("<u2", shape), test::counting_bytes(12)))
        .string();
  };
  const std::string a = write("a.npy", "(3, 2)");
  const std::string b = write("b.npy", "(2, 3)");
  CHECK(test::message_of<dataset_error>([&] {
          (void)open(std::vector{a, b});
        }) == b + ": has the fields a: uint16[3], but " + a +
                  " has a: uint16[2]; files that are opened together have the same fields");
}

TEST_CASE("open: the error for a file that feedline does not read names its kind",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto message = [&](std::string_view bytes) {
    return refusal(folder.write("a", std::as_bytes(std::span{bytes})));
  };
  CHECK(test::contains(message("SQLite format 3 and so on"),
                       "it is an SQLite database; save its values as arrays (.npy, HDF5), or write "
                       "a dataset class of your own. Known are "));
  CHECK(test::contains(message("[[1, 2, 3],\n [4, 5, 6], [7, 8]]\n"),
                       "it is JSON text; save its values, or its tokens, as arrays with "
                       "numpy.save"));
}

TEST_CASE("open: tokens_per_sample is refused where it would say nothing", "[dataset][host]") {
  const test::temporary_directory folder;
  CHECK(test::message_of<usage_error>([&] {
          (void)open(folder.path(), {.tokens_per_sample = 4});
        }) == "open: open_options::tokens_per_sample is for shards of tokens, but " +
                  folder.path().string() + " is of the format image_folder; leave it out");
}
