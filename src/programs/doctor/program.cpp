#include "programs/doctor/program.hpp"

#include <feedline/error.hpp>
#include <feedline/statistics/trace.hpp>

#include "detail/printable.hpp"
#include "programs/doctor/report.hpp"
#include "programs/words/failure.hpp"

#include <system_error>

#include <cerrno>
#include <exception>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace doctor {
namespace {

void write(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
  file.close();
  if (!file)
    throw feedline::error{
        path + ": cannot be written: " + std::generic_category().message(errno == 0 ? EIO : errno) +
        "; choose another path"};
}

void write_picture(const request& asked, const examination& made) {
  const feedline::trace& trace = made.measured.loops.front().trace;
  const std::string title = asked.path + ", batches of " + std::to_string(made.measured.batch_size);
  if (asked.picture.ends_with(".html"))
    write_trace_page(trace, asked.picture, title);
  else
    write_chrome_trace(trace, asked.picture, title);
}

/// @param show Told what is measured; empty: nothing is.
int examine_and_report(const request& asked, std::ostream& out, const progress& show,
                       const gpu_finder& find) {
  const bool says = asked.json != "-";
  show("content");
  std::vector<content> found;
  for (const programs::input& each : asked.inputs) found.push_back(look_at(each.path, asked.how));
  show({});
  for (const content& each : found) {
    if (!says) break;
    const std::size_t files = each.files.size();
    out << feedline::detail::printable(each.path) << ": " << each.format
        << (files > 1 ? ", " + std::to_string(files) + " files" : "") << '\n'
        << words_of({content_section(each)}) << std::flush;
  }
  const examination made = examine(asked, std::move(found), show, find);
  show({});
  const std::vector<section> report = sections_of(asked, made);
  out << (says ? words_of(report) + '\n' + made.program : json_of(report)) << std::flush;
  if (!out) throw feedline::error{"standard output cannot be written"};
  if (says && !asked.json.empty()) write(asked.json, json_of(report));
  if (!asked.code.empty()) write(asked.code, made.program);
  if (!asked.picture.empty()) write_picture(asked, made);
  return made.measured.damages.empty() ? 0 : programs::not_all_read;
}

}  // namespace

#ifndef FEEDLINE_HAS_CUDA  // else cuda_gpu.cu has it
gpu_search find_gpu(int /*ordinal*/) {
  return {nullptr, "this feedline-doctor was built without CUDA"};
}
#endif

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
        bool err_is_terminal, const gpu_finder& find) {
  const auto asked = read_command_line(argc, argv, out, err);
  if (const int* const code = std::get_if<int>(&asked)) return *code;
  const auto show = [&](const std::string& what) {  // in one line, which is erased
    if (err_is_terminal)
      err << "\r\x1b[K" << (what.empty() ? what : "measuring: " + what) << std::flush;
  };
  try {
    return examine_and_report(std::get<request>(asked), out, show, find);
  } catch (...) {
    show({});
    const programs::failure failure = programs::current_failure(programs::program::doctor);
    err << failure.message << '\n';
    return failure.code;
  }
}

}  // namespace doctor
