// Where a converted dataset is put, and what is never lost by that.

#include <feedline/error.hpp>

#include "programs/convert/conversion.hpp"
#include "programs/convert/work/work_folder.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/files/temporary_directory.hpp"

#include <fstream>
#include <iterator>
#include <string>

using namespace feedline;
using namespace feedline::test;
namespace fs = std::filesystem;

namespace {

constexpr auto ignore = [](convert::step, std::uint64_t, std::uint64_t) {};
constexpr auto thesis = "three years of work";

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream{path} << text;
}

std::string text_of(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

convert::job job_to(convert::format to, const fs::path& output) {
  convert::job job{.output = output, .to = to};
  job.checkpoint_bytes = 1;
  return job;
}

void run(const convert::job& job, std::uint64_t samples = 10) {
  (void)convert::run(make_identity_dataset(samples, 8), job, ignore);
}

std::string refusal(const convert::job& job) {
  return message_of<usage_error>([&] { run(job); });
}

const auto every_format =
    std::vector{convert::format::hdf5, convert::format::npy, convert::format::records};

}  // namespace

TEST_CASE("convert: a folder or file that exists is refused and keeps its bytes, whoever wrote it",
          "[samples][host]") {
  const temporary_directory folder;
  const auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  fs::path bystander = job.output;
  std::string ending;
  bool is_own = false;
  SECTION("a folder") {
    fs::create_directory(job.output);
    bystander /= "thesis.txt";
    ending = " and its contents";
  }
  SECTION("a file") {}
  SECTION("its own") {
    run(job);
    is_own = true;
    if (fs::is_directory(job.output)) ending = " and its contents";
    if (fs::is_directory(job.output)) bystander /= "row.npy";
  }
  if (!is_own) write_text(bystander, thesis);
  const std::string before = text_of(bystander);
  CHECK(refusal(job) == job.output.string() +
                            ": exists; choose another --output, or set --force to replace it" +
                            ending);
  CHECK_FALSE(before.empty());
  CHECK(text_of(bystander) == before);
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("convert: force replaces the existing output, and no neighbour", "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  job.force = true;
  for (const char* name : {"out.old", "out.new", "other"}) write_text(folder.path() / name, thesis);
  SECTION("a file") {
    write_text(job.output, "replaced");
  }
  SECTION("a folder") {
    fs::create_directories(job.output / "deep");
    write_text(job.output / "deep" / "file", "replaced");
  }
  SECTION("a link, not its target") {
    fs::create_symlink("other", job.output);
  }
  run(job);
  CHECK_FALSE(fs::is_symlink(job.output));
  for (const char* name : {"out.old", "out.new", "other"})
    CHECK(text_of(folder.path() / name) == thesis);
  CHECK(entries_of(folder.path()) == 4);
}

TEST_CASE("convert: an output that force replaces stays until the new one is complete",
          "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  job.force = true;
  write_text(job.output, thesis);
  CHECK_THROWS_AS(convert::run(make_identity_dataset(10, 8), job,
                               [&](convert::step now, std::uint64_t, std::uint64_t) {
                                 CHECK(text_of(job.output) == thesis);
                                 if (now == convert::step::verifying)
                                   throw std::runtime_error{"a power failure"};
                               }),
                  std::runtime_error);
  CHECK(text_of(job.output) == thesis);
}

TEST_CASE("convert: an output that appears while it is made is left, and so is the new one",
          "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  const auto from = make_identity_dataset(10, 8);
  CHECK_THROWS_AS(convert::run(from, job,
                               [&](convert::step, std::uint64_t, std::uint64_t) {
                                 write_text(job.output, thesis);
                               }),
                  std::runtime_error);
  CHECK(text_of(job.output) == thesis);
  job.force = true;
  CHECK(convert::run(from, job, ignore).resumed_from == 10);
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("convert: the second of two runs on one output is refused", "[samples][host]") {
  const temporary_directory folder;
  const auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  std::string words;
  run(job);
  fs::remove_all(job.output);
  (void)convert::run(make_identity_dataset(10, 8), job,
                     [&](convert::step now, std::uint64_t, std::uint64_t) {
                       if (now == convert::step::writing)
                         words = message_of<std::runtime_error>([&] { run(job); });
                     });
  CHECK(words == job.work().string() + ": another feedline-convert is at work on this output");
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("convert: files that killed runs leave in the work folder stop no later run",
          "[samples][host]") {
  const temporary_directory folder;
  const auto job = job_to(convert::format::records, folder.path() / "out");
  fs::create_directory(job.work());
  SECTION("an empty folder") {}
  SECTION("an empty lock") {
    write_text(job.work() / "lock", "");
  }
  SECTION("half a lock") {
    write_text(job.work() / "lock", "feedline-convert makes");
  }
  SECTION("an output without a journal") {
    write_text(job.work() / "lock", "");
    write_text(job.work() / "unfinished", "something");
  }
  run(job);
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("convert: a work folder that others use keeps its bytes", "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(GENERATE(from_range(every_format)), folder.path() / "out");
  job.force = true;
  job.restart = true;
  fs::path bystander = job.work();
  SECTION("as a file") {}
  SECTION("as a folder of their own") {
    fs::create_directory(job.work());
    bystander /= "thesis.txt";
  }
  SECTION("beside the unfinished output") {
    const convert::work_folder work{job.work()};
    write_text(work.journal(), "");  // so that it stays
    bystander /= "thesis.txt";
  }
  SECTION("within the unfinished output") {
    const convert::work_folder work{job.work()};
    write_text(work.journal(), "");
    fs::create_directory(work.unfinished());
    bystander = work.unfinished() / "thesis.txt";
  }
  write_text(bystander, thesis);
  CHECK(refusal(job).find(" was not made by it: move it away, or choose another --output") !=
        std::string::npos);
  CHECK(text_of(bystander) == thesis);
  CHECK_FALSE(fs::exists(job.output));
}

TEST_CASE("convert: an output that is, contains or lies inside an input is refused, forced or not",
          "[samples][host]") {
  const temporary_directory folder;
  const fs::path at = folder.path();
  fs::create_directories(at / "in" / "deep");
  write_text(at / "in" / "deep" / "x.h5", thesis);
  write_text(at / "y.h5", thesis);
  fs::create_directory_symlink(at / "in", at / "link");
  fs::create_symlink(at / "y.h5", at / "in" / "y.h5");
  fs::create_hard_link(at / "y.h5", at / "hard.h5");
  const auto refused = [&](const fs::path& output, const fs::path& input) {
    convert::job job{.output = at / output, .force = true, .inputs = {at / input}};
    const auto words = message_of<usage_error>([&] { run(job); });
    CHECK(words == message_of<usage_error>([&] { convert::require_apart_from_inputs(job); }));
    CHECK(text_of(at / "in" / "deep" / "x.h5") == thesis);
    CHECK(text_of(at / "y.h5") == thesis);
    return words.substr(0, words.find(" the input")).substr((at / output).string().size());
  };
  CHECK(refused("y.h5", "y.h5") == ": is");
  CHECK(refused("hard.h5", "y.h5") == ": is");
  CHECK(refused("in/../y.h5", "in/y.h5") == ": is");
  CHECK(refused("in/y.h5", "y.h5") == ": is");
  CHECK(refused("in", "in/deep/x.h5") == ": contains");
  CHECK(refused("link", "in/deep/x.h5") == ": contains");
  CHECK(refused("in", "link/deep") == ": contains");
  CHECK(refused("in", "in/y.h5") == ": contains");
  CHECK(refused("in/new.h5", "in") == ": lies inside");
  CHECK(refused("link/deep/new.h5", "in") == ": lies inside");
  CHECK(refused("in/deep/x.h5", "link") == ": lies inside");
  CHECK(refused("y.h5", "in") == ": is");  // a link within the folder
  fs::create_directory(at / "z.part");
  write_text(at / "z.part" / "x.h5", thesis);
  CHECK(refused("z", "z.part/x.h5") == ".part: contains");
}

TEST_CASE("convert: an output that replaces a folder, or is one, replaces it whole",
          "[samples][host]") {
  const temporary_directory folder;
  const fs::path output = folder.path() / "out";
  const bool new_is_folder = GENERATE(false, true);
  {
    const convert::work_folder work{folder.path() / "out.part"};
    const fs::path made = new_is_folder ? work.unfinished() / "a.npy" : work.unfinished();
    if (new_is_folder) fs::create_directory(work.unfinished());
    write_text(made, "new");
    SECTION("where nothing is") {}
    SECTION("over a file") {
      write_text(output, "old");
    }
    SECTION("over a folder") {
      fs::create_directory(output);
      write_text(output / "old", "old");
    }
    convert::occupant replaces = convert::occupant_of(output);
    SECTION("if the earlier output is gone") {
      replaces = convert::occupant_of(work.unfinished());  // any
    }
    work.put_in_place(output, replaces);
  }
  CHECK(text_of(new_is_folder ? output / "a.npy" : output) == "new");
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("convert: a file that took the output's name meanwhile keeps it", "[samples][host]") {
  const temporary_directory folder;
  const fs::path output = folder.path() / "out";
  const convert::work_folder work{folder.path() / "out.part"};
  write_text(work.unfinished(), "new");
  convert::occupant replaces;
  if (GENERATE(false, true)) replaces = convert::occupant_of(work.unfinished());  // any other
  if (GENERATE(false, true)) {
    write_text(output, thesis);
  } else {
    fs::create_directory(output);
    write_text(output / "thesis.txt", thesis);
  }
  CHECK(message_of<std::runtime_error>([&] { work.put_in_place(output, replaces); }) ==
        output.string() +
            ": another program wrote it while the conversion ran, and it is left unchanged; the "
            "complete output is in " +
            work.unfinished().string() + ": the same command with --force moves it there");
  CHECK(text_of(fs::is_directory(output) ? output / "thesis.txt" : output) == thesis);
  CHECK(text_of(work.unfinished()) == "new");
}

TEST_CASE("convert: an output in no folder, or that is a device, is refused before any work",
          "[samples][host]") {
  const temporary_directory folder;
  CHECK(refusal(job_to(convert::format::npy, folder.path() / "no" / "out")) ==
        (folder.path() / "no" / "out").string() + ": there is no folder " +
            (folder.path() / "no").string() + " to write it in");
  auto device = job_to(convert::format::records, "/dev/null");
  device.force = true;
  CHECK(refusal(device) ==
        "/dev/null: is a device, a pipe or a socket, which no output can replace");
}
