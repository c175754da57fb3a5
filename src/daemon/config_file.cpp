#include "daemon/config_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace order_timeout::daemon {
namespace {

// The parser refuses more than 1 MiB; nothing beyond that is read.
constexpr std::streamsize kMostBytes = (1 << 20) + 1;

std::optional<std::string> read_at_most(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(static_cast<std::size_t>(kMostBytes), '\0');
  file.read(text.data(), kMostBytes);
  if (file.bad()) return std::nullopt;  // a directory, for one
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::optional<std::string> read_secret(const std::string& path) {
  std::optional<std::string> text = read_at_most(path);
  if (text && !text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

std::variant<std::pair<std::string, std::string>, ConfigError> parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    ConfigError error;
    error.source = "--set";
    error.message = "expected KEY=VALUE, e.g. --set close.max_per_second=200";
    return error;
  }
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

std::variant<ParsedConfig, std::vector<ConfigError>> load_config(
    const std::string& path, const std::vector<std::string>& sets) {
  std::vector<ConfigError> errors;
  ConfigSources sources;
  sources.file_name = path;
  sources.environment = environment();
  sources.read_file = read_secret;
  for (const std::string& text : sets) {
    auto set = parse_set(text);
    if (auto* error = std::get_if<ConfigError>(&set)) {
      errors.push_back(std::move(*error));
    } else {
      sources.sets.push_back(std::get<0>(std::move(set)));
    }
  }
  errno = 0;
  std::optional<std::string> text = read_at_most(path);
  if (!text) {
    ConfigError error;
    error.source = path;
    error.message = std::string("cannot be read: ") + std::strerror(errno != 0 ? errno : EISDIR);
    errors.push_back(std::move(error));
    return errors;
  }
  sources.text = std::move(*text);
  auto parsed = parse_config(sources);
  if (auto* more = std::get_if<std::vector<ConfigError>>(&parsed)) {
    errors.insert(errors.end(), more->begin(), more->end());
  }
  if (!errors.empty()) return errors;
  return parsed;
}

}  // namespace order_timeout::daemon
