// ${NAME}, ${NAME:-default} and ${file:/path} within a value; $${ stands for ${ itself.
#pragma once

#include <string>
#include <vector>

#include "order_timeout/config_parser.hpp"

namespace order_timeout {

struct Substituted {
  std::string text;   // with everything put in
  std::string shown;  // likewise, but *** in place of files
  bool has_file = false;
  bool is_file = false;               // the whole value is one file
  std::vector<std::string> mistakes;  // they name variables and paths, never values
};

Substituted substitute(const std::string& text, const ConfigSources& sources);

// The text that substitute() gives `text` for.
std::string without_substitution(const std::string& text);

}  // namespace order_timeout
