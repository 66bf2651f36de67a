// Tests how programs translate the library's messages.

#include "programs/words/library_words.hpp"

#include <feedline/error.hpp>

#include "programs/words/failure.hpp"
#include "support/checks/catch.hpp"

#include <new>
#include <string>

using namespace feedline;
using programs::in_words_of;
using programs::program;

namespace {

/// How a program ends where something is thrown.
template <class Error>
programs::failure ending(program speaker, const Error& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return programs::current_failure(speaker);
  }
}

}  // namespace

TEST_CASE("programs: options of the library are called by the program's names for them",
          "[programs][host]") {
  const std::string message =
      "/data/x.bin holds tokens, and open_options::tokens_per_sample is not given";
  const std::string told = "/data/x.bin holds tokens, and --tokens-per-sample is not given";
  CHECK(in_words_of(program::convert, message) == told);
  CHECK(in_words_of(program::doctor, message) == told);
  CHECK(in_words_of(program::convert,
                    "loader_options::readers is 1025: say 0 to 1024, or "
                    "automatic_readers") == "--readers is 1025: say 0 to 1024, or -1");
  const std::string side = "image_options::height is 0, but must be 1 to 65535";
  CHECK(in_words_of(program::convert, side) == "--height is 0, but must be 1 to 65535");
  CHECK(in_words_of(program::doctor, side) == "--resize is 0, but must be 1 to 65535");
  CHECK(in_words_of(program::convert, "name all in open_options::fields.") ==
        "name all in --fields.");
}

TEST_CASE("programs: an option that a program lacks is called the library's", "[programs][host]") {
  CHECK(in_words_of(program::doctor,
                    "are refused; raise image_options::max_pixels if the size is right") ==
        "are refused; raise max_pixels (of the library's image_options; feedline-doctor has no "
        "option for it) if the size is right");
  CHECK(in_words_of(program::convert, "set loader_options::errors.action to skip") ==
        "set errors.action (of the library's loader_options; feedline-convert has no option for "
        "it) to skip");
  CHECK(in_words_of(program::convert, "choose placement::stream") ==
        "choose stream (of the library's placement)");
}

TEST_CASE("programs: windows of chunks are recommended with the program's own option",
          "[programs][host]") {
  const std::string message =
      "shuffle{.within = chunks(4)} reads each chunk once; load_into_memory() reads all of them "
      "once. Use chunks(32768) or more";
  CHECK(in_words_of(program::convert, message) ==
        "--within-chunks 4 reads each chunk once; the library's load_into_memory() reads all of "
        "them once. Use --within-chunks 32768 or more");
  CHECK(in_words_of(program::doctor, message) ==
        "--order windows reads each chunk once; the library's load_into_memory() reads all of them "
        "once. Use --order windows or more");
}

TEST_CASE("programs: functions that a message recommends are called the library's",
          "[programs][host]") {
  CHECK(in_words_of(program::convert, "are opened by open_records and open_tokens") ==
        "are opened by the library's open_records and the library's open_tokens");
}

TEST_CASE("programs: paths and quoted names stay unchanged, whatever they resemble",
          "[programs][host]") {
  for (const char* message : {"/data/open_tar/open_npy.tar: cut", "open_tar: it is empty",
                              "'open_options::fields' is no", "./open_hdf5: no such file",
                              "a::b/c.h5: no such file", "field 'loader_options::x' is there",
                              "std::bad_alloc", "", "::", "a:: b", "ends with open_options::"})
    CHECK(in_words_of(program::convert, message) == message);
}

TEST_CASE("programs: no option that the library names reaches a user with its colons",
          "[programs][host]") {
  for (const char* member :
       {"open_options::fields", "open_options::like", "open_options::tokens_per_sample",
        "tar_options::lenient", "tar_options::skip_incomplete",
        "hdf5_options::max_host_cache_bytes", "image_options::max_pixels",
        "image_folder_options::label_type", "pad_options::length", "pack_options::capacity",
        "loader_options::errors.max_share", "loader_options::placement",
        "load_into_memory_options::errors.substitute", "partial_batch::drop", "image_layout::hwc",
        "element_type::f32", "pad_longer::truncate", "error_action::substitute"})
    for (const program speaker : {program::convert, program::doctor}) {
      const std::string told = in_words_of(speaker, std::string{"set "} + member + " to that");
      CHECK(told.find("::") == std::string::npos);
      CHECK(told.starts_with("set "));
      CHECK(told.ends_with(" to that"));
    }
}

TEST_CASE("programs: a program ends with a code that says whose fault it is, and names no stage",
          "[programs][host]") {
  const auto usage = ending(program::convert, usage_error{"open_options::like is nothing"});
  CHECK(usage.code == 2);
  CHECK(usage.message == "feedline-convert: --like is nothing");
  const dataset_error cut{{.path = "/data/cut", .field = {}, .sample = 7}, "ends early"};
  CHECK(ending(program::doctor, cut).code == 1);
  const auto staged =
      ending(program::doctor, stage_error{{.ticket = 2, .path = {}}, std::make_exception_ptr(cut)});
  CHECK(staged.code == 1);
  CHECK(staged.message == "feedline-doctor: /data/cut: sample 7: ends early");
  CHECK(ending(program::doctor, std::bad_alloc{}).message ==
        "feedline-doctor: there is no memory left");
  CHECK(ending(program::doctor, 7).message ==
        "feedline-doctor: an exception that is no std::exception");
}
