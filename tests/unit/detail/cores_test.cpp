#include "detail/cores.hpp"

#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

using namespace feedline::detail;
using feedline::test::temporary_directory;

namespace {

/// Runs the test on its own thread.
template <class Body>
core_list on_own_thread(Body body) {
  core_list made;
  std::thread{[&] { made = body(); }}.join();
  return made;
}

}  // namespace

TEST_CASE("cores: a list is numbers and ranges", "[detail][host]") {
  CHECK(parse_cores("0-3,8,10-11\n") == core_list{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_cores("5") == core_list{5});
  CHECK(parse_cores("7-7 \n") == core_list{7});
}

TEST_CASE("cores: text that is no list of cores names none", "[detail][host]") {
  const char* const wrong[] = {"",     "\n",  "-",   "-3",  "3-",  "3-1",   "0,5-3", "1,",  ",1",
                               "1,,2", "1 2", "1;2", "two", "0x3", "1-2-3", "4,2",   "2,2", "+1"};
  for (const std::string text : wrong) {
    CAPTURE(text);
    CHECK(parse_cores(text).empty());
  }
  CHECK(parse_cores("0-99999999").empty());
  CHECK(parse_cores("99999999999999999999").empty());
}

TEST_CASE("cores: those near a device on the PCI bus are the system's", "[detail][host]") {
  const temporary_directory root;
  const auto write = [&](const std::string& address, const std::string& text) {
    const std::filesystem::path folder = root.path() / "sys/bus/pci/devices" / address;
    std::filesystem::create_directories(folder);
    std::ofstream{folder / "local_cpulist"} << text;
  };
  write("0000:3b:00.0", "0-1,4-5\n");
  write("0000:af:00.0", "2-3,6-7\n");
  write("0000:c1:00.0", "\n");  // a node of memory alone
  write("0000:d8:00.0", "nonsense\n");
  CHECK(cores_near(root.path(), "0000:3b:00.0") == core_list{0, 1, 4, 5});
  CHECK(cores_near(root.path(), "0000:AF:00.0") == core_list{2, 3, 6, 7});  // CUDA's spelling
  CHECK(cores_near(root.path(), "0000:c1:00.0").empty());
  CHECK(cores_near(root.path(), "0000:d8:00.0").empty());
  CHECK(cores_near(root.path(), "0000:00:00.0").empty());
  CHECK(cores_near("/nowhere", "0000:3b:00.0").empty());
}

TEST_CASE("cores: a thread has those near cores that it may run on", "[detail][host]") {
  const core_list allowed = allowed_cores();
  REQUIRE_FALSE(allowed.empty());
  const unsigned beyond = allowed.back() + 1;
  CHECK(choose_cores({}).empty());
  CHECK(choose_cores({beyond}).empty());
  CHECK(choose_cores(allowed).empty());  // no others: nothing to choose
  if (allowed.size() == 1) FEEDLINE_SKIP("this process may use one core alone");
  CHECK(choose_cores({allowed.front(), beyond}) == core_list{allowed.front()});
}

TEST_CASE("cores: a thread that is bound has these cores, and no other is", "[detail][host]") {
  const core_list before = allowed_cores();
  const core_list one{before.back()};
  CHECK(on_own_thread([&] {
          bind_this_thread(one);
          return on_own_thread(allowed_cores);
        }) == one);
  CHECK(allowed_cores() == before);
}

TEST_CASE("cores: a thread that cannot be bound keeps its cores", "[detail][host]") {
  const core_list before = allowed_cores();
  CHECK(on_own_thread([] {
          bind_this_thread({});
          bind_this_thread({60'000});  // not there
          return allowed_cores();
        }) == before);
}

TEST_CASE("cores: work near some cores runs on them, and leaves the caller's cores unchanged",
          "[detail][host]") {
  const core_list before = allowed_cores();
  if (before.size() == 1) FEEDLINE_SKIP("this process may use one core alone");
  const core_list one{before.back()};
  core_list seen;
  run_near(one, [&] { seen = allowed_cores(); });
  CHECK(seen == one);
  CHECK(allowed_cores() == before);
  CHECK_THROWS_AS(run_near(one, [] { throw std::domain_error{"no memory there"}; }),
                  std::domain_error);
}

TEST_CASE("cores: if there is nothing to choose the caller runs it itself", "[detail][host]") {
  for (const core_list& near : {core_list{}, allowed_cores(), core_list{60'000}}) {
    std::thread::id on;
    run_near(near, [&] { on = std::this_thread::get_id(); });
    CHECK(on == std::this_thread::get_id());
  }
}
