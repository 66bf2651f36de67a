#include "programs/doctor_runs.hpp"
#ifdef FEEDLINE_TEST_REMOTE
#include "support/http/server.hpp"
#endif

#include <cstddef>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Ends with the code, says the words on standard error, and nothing twice.
void check_refused(int code, const std::string& words, const std::vector<std::string>& arguments) {
  const doctor_run run = run_doctor(arguments);
  INFO(run.err);
  CHECK(run.code == code);
  CHECK(says(run.err, words));
}

}  // namespace

TEST_CASE("doctor: an input that cannot be opened ends with its path and what to do",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string nothing = (folder.path() / "nothing").string();
  check_refused(2, "feedline-doctor: " + nothing + ": no such file or folder; give the path",
                {nothing});
  const std::vector<std::byte> some(100, std::byte{'a'});
  const std::string words = folder.write("words", some).string();
  check_refused(1, "feedline-doctor: " + words + ": of no format that is known", {words});
  check_refused(1, "a folder of 1 file, 'words', and not one of images by class",
                {folder.path().string()});

  const std::string empty =
      folder.write("empty.npy", npy_bytes(npy_dictionary("|u1", "(0, 16)"), {})).string();
  const doctor_run of_empty = run_doctor({empty});
  CHECK(of_empty.code != 0);
  INFO(of_empty.err);
  CHECK(says(of_empty.err, empty));
  CHECK(says(of_empty.err, "holds zero samples"));
}

TEST_CASE("doctor: an unknown field is refused with those there are", "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_packed(folder).string();
  const doctor_run run = run_doctor({file, "--fields", "nonsense"});
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(says(run.err, file + ": field 'nonsense'"));
  CHECK(says(run.err, "image"));
  CHECK(says(run.out, "what is in it"));  // is reported anyway
  CHECK(says(run.out, "chunks of 64 samples, deflate"));
}

TEST_CASE("doctor: a batch larger than the dataset is refused with its size", "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  check_refused(2,
                "feedline-doctor: " + file +
                    ": holds 1000 samples, fewer than a batch of 1001: give --batch-size 1000 or "
                    "less",
                {file, "--batch-size", "1001"});
  CHECK(run_doctor({file, "--batch-size", "1000"}).code == 0);
}

TEST_CASE("doctor: a command line that says nothing sensible ends with code 2",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  check_refused(2, "path is required", {});
  check_refused(2, "soon is not a time above 0: give 5ms, 200us or 0.1s", {file, "--step", "soon"});
  check_refused(2, "12 is not a size such as 224x224", {file, "--resize", "12"});
  check_refused(2, "ends neither with .html nor with .json", {file, "--picture", "loop.png"});
  check_refused(2, "--order", {file, "--order", "sorted"});
  const doctor_run help = run_doctor({"--help"});
  CHECK(help.code == 0);
  CHECK(says(help.out, "Exit codes: 0 all was read; 1 "));
  CHECK(says(run_doctor({"--version"}).out, "feedline-doctor 0."));
}

TEST_CASE("doctor: messages name its options, not the library's", "[programs][host]") {
  const temporary_directory folder;
  const doctor_run run = run_doctor({write_rows(folder).string(), "--fields", "a", "b"});
  INFO(run.err);
  CHECK(run.code == 2);
  CHECK(says(run.err, "becomes one field, but --fields names 2"));
  CHECK_FALSE(says(run.err, "open_options"));
}

TEST_CASE("doctor: a GPU that is asked for and is not there is an error, and else none",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  const auto none = [](int number) {
    return doctor::gpu_search{nullptr, "there is no GPU " + std::to_string(number)};
  };
  const doctor_run refused = run_doctor({file, "--gpu", "0"}, false, none);
  CHECK(refused.code == 2);
  INFO(refused.err);
  CHECK(says(refused.err,
             "feedline-doctor: --gpu 0: there is no GPU 0; without --gpu, or with --no-gpu, no GPU "
             "is needed\n"));
  const std::vector<const char*> words{"feedline-doctor", file.c_str(), "--seconds", "0.1"};
  std::ostringstream out;
  std::ostringstream err;
  CHECK(doctor::run(4, words.data(), out, err, false, none) == 0);
  CHECK(says(out.str(), "not measured  there is no GPU 0"));
  check_refused(2, "--no-gpu", {file, "--gpu", "0", "--no-gpu"});
}

#ifdef FEEDLINE_TEST_REMOTE
TEST_CASE("doctor: addresses are examined as files are", "[programs][host]") {
  http_server server;
  server.put("/a.npy",
             npy_bytes(npy_dictionary("|u1", "(500, 300)"), std::vector<std::byte>(500 * 300)));
  const doctor_run run = run_doctor({server.address("/a.npy"), "--json", "-"});
  INFO(run.err);
  INFO(run.out);
  CHECK(run.code == 0);
  CHECK(says(run.out, server.address("/a.npy")));
  check_refused(2, server.address("/none") + ": no such file or folder", {server.address("/none")});
}
#endif

TEST_CASE("doctor: an output that cannot be written is named with the reason", "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  const std::string lost = (folder.path() / "no" / "such").string();
  check_refused(1, lost + ": cannot be written: No such file or directory", {file, "--json", lost});
  check_refused(1, lost + ": cannot be written: No such file or directory", {file, "--code", lost});
  check_refused(1, lost + ".json", {file, "--picture", lost + ".json"});
}
