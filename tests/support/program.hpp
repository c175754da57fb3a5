// A program run to its end, with what it printed.
#pragma once

#include <string>
#include <vector>

namespace order_timeout::testing {

struct ProgramRun {
  int exit_code = -1;  // minus the signal that ended it
  std::string out;
  std::string err;
};

// words[0] is looked for in PATH. Standard input is `input`. It is killed after a minute.
ProgramRun run_program(std::vector<std::string> words, const std::string& input = "");

}  // namespace order_timeout::testing
