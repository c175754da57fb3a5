#include "core/config_substitution.hpp"

#include <algorithm>
#include <string_view>

#include "core/config_path.hpp"

namespace order_timeout {
namespace {

bool is_variable_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
         !(name[0] >= '0' && name[0] <= '9');
}

void append(Substituted& result, std::string_view text) {
  result.text += text;
  result.shown += text;
}

void take_file(Substituted& result, const std::string& path, const ConfigSources& sources) {
  result.has_file = true;
  result.shown += "***";
  if (!path.starts_with('/')) {
    result.mistakes.push_back("${file:PATH} needs an absolute path, found " +
                              quoted_for_message(path, 200));
    return;
  }
  const Result<std::string> content = sources.read_file
                                          ? sources.read_file(path)
                                          : Failure{FailureKind::unavailable, "cannot be read", ""};
  if (!content) {
    result.mistakes.push_back("the file " + quoted_for_message(path, 200) + " " +
                              content.error().detail);
    return;
  }
  result.text += *content;
}

// What stands between ${ and }.
void take(Substituted& result, std::string_view inside, const ConfigSources& sources) {
  if (inside.starts_with("file:")) {
    take_file(result, std::string{inside.substr(5)}, sources);
    return;
  }
  const std::size_t colon = inside.find(":-");
  const std::string name{inside.substr(0, colon)};
  if (!is_variable_name(name)) {
    result.mistakes.push_back(
        "a ${...} of no known form; allowed: ${NAME}, ${NAME:-default}, "
        "${file:/path}, and $${ for ${ itself");
    return;
  }
  const auto found = sources.environment.find(name);
  const bool has_default = colon != std::string_view::npos;
  if (found != sources.environment.end() && !(has_default && found->second.empty())) {
    append(result, found->second);
  } else if (has_default) {
    append(result, inside.substr(colon + 2));
  } else {
    result.mistakes.push_back("the environment variable " + name + " is not set");
  }
}

}  // namespace

Substituted substitute(const std::string& text, const ConfigSources& sources) {
  Substituted result;
  std::string_view rest{text};
  result.is_file =
      rest.starts_with("${file:") && !rest.empty() && rest.find('}') == rest.size() - 1;
  while (true) {
    const std::size_t start = rest.find("${");
    if (start == std::string_view::npos) break;
    if (start > 0 && rest[start - 1] == '$') {
      append(result, rest.substr(0, start - 1));
      append(result, "${");
      rest.remove_prefix(start + 2);
      continue;
    }
    append(result, rest.substr(0, start));
    const std::size_t end = rest.find('}', start);
    if (end == std::string_view::npos) {
      result.mistakes.push_back("a ${ is never closed; $${ stands for ${ itself");
      return result;
    }
    take(result, rest.substr(start + 2, end - start - 2), sources);
    rest.remove_prefix(end + 1);
  }
  append(result, rest);
  return result;
}

std::string without_substitution(const std::string& text) {
  std::string escaped;
  std::size_t at = 0;
  for (std::size_t start = text.find("${"); start != std::string::npos;
       start = text.find("${", at)) {
    escaped += text.substr(at, start - at) + "$${";
    at = start + 2;
  }
  return escaped + text.substr(at);
}

}  // namespace order_timeout
