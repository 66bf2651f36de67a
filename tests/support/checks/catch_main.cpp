/// The test programs' main, for both of Catch2's major versions.

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_version_macros.hpp>
#else
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_ENABLE_BENCHMARKING  // same as in catch.hpp, because it changes classes
#include <catch2/catch.hpp>
#endif

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

int main(int argc, char* argv[]) {
  // The library logs to the logger of this name: a loader's plan is no news here, a warning is.
  spdlog::stderr_color_mt("feedline")->set_level(spdlog::level::warn);
  Catch::Session session;
#if CATCH_VERSION_MAJOR < 3
  // A name that selects no test is a failure, as it is by default since Catch2 3.
  session.configData().warnings = Catch::WarnAbout::NoTests;
#endif
  return session.run(argc, argv);
}
