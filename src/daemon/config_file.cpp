#include "daemon/config_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "daemon/text_file.hpp"

namespace order_timeout::daemon {
namespace {

namespace fs = std::filesystem;

// The parser refuses more than 1 MiB; nothing beyond that is read.
constexpr std::size_t kMostBytes = (std::size_t{1} << 20U) + 1;
constexpr std::size_t kMostLineFiles = 1'000;
constexpr std::size_t kMostLineBytes = std::size_t{4} << 20U;  // of all files together
constexpr std::string_view kSetPrefix = "ORDER_TIMEOUTD_SET__";

ConfigError error_in(const std::string& source, std::string message) {
  ConfigError error;
  error.source = source;
  error.message = std::move(message);
  return error;
}

Result<std::string> read_secret(const std::string& path) {
  Result<TextFile> file = read_text_file(path, kMostBytes);
  if (!file) return file.error();
  if (file->readable_by_others) {
    return Failure{FailureKind::rejected,
                   "can be read by others; it may hold a secret: chmod o-r it", ""};
  }
  std::string text = std::move(file->text);
  if (!text.empty() && text.back() == '\n') text.pop_back();
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

// Nothing but comments and space: a file that somebody is about to write, or lost.
bool says_nothing(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// Names of the include directory's files, sorted.
std::vector<std::string> line_file_names(const std::string& directory,
                                         std::vector<ConfigError>& errors) {
  std::vector<std::string> names;
  std::error_code failed;
  if (!fs::exists(directory, failed)) return names;
  for (fs::directory_iterator at(directory, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with('.') && name.ends_with(".yaml")) names.push_back(at->path().string());
  }
  if (failed) errors.push_back(error_in(directory, "cannot be read: " + failed.message()));
  if (names.size() > kMostLineFiles) {
    errors.push_back(error_in(directory, "holds more than 1000 files"));
    names.clear();
  }
  std::sort(names.begin(), names.end());
  return names;
}

void read_line_files(ConfigSources& sources, std::vector<ConfigError>& errors) {
  const fs::path directory = fs::path(sources.file_name).parent_path() / "business_lines.d";
  std::size_t bytes = 0;
  for (const std::string& name : line_file_names(directory.string(), errors)) {
    Result<TextFile> file = read_text_file(name, kMostBytes);
    if (!file) {
      errors.push_back(error_in(name, file.error().detail));
      continue;
    }
    bytes += file->text.size();
    if (bytes > kMostLineBytes) {
      errors.push_back(error_in(directory.string(), "its files are larger than 4 MiB together"));
      return;
    }
    sources.line_files.emplace_back(name, std::move(file->text));
  }
}

void take_sets(ConfigSources& sources, const std::vector<std::string>& sets,
               std::vector<ConfigError>& errors) {
  for (const std::string& text : sets) {
    auto set = parse_set(text);
    if (auto* error = std::get_if<ConfigError>(&set)) {
      errors.push_back(std::move(*error));
    } else {
      sources.sets.push_back(std::get<0>(std::move(set)));
    }
  }
}

ConfigOrErrors load(const std::string& path, const std::vector<std::string>& sets,
                    bool is_snapshot) {
  std::vector<ConfigError> errors;
  ConfigSources sources;
  sources.file_name = path;
  sources.is_snapshot = is_snapshot;
  sources.environment = environment();
  sources.read_file = read_secret;
  take_sets(sources, sets, errors);
  Result<TextFile> file = read_text_file(path, kMostBytes);
  if (!file) errors.push_back(error_in(path, file.error().detail));
  if (file && says_nothing(file->text)) errors.push_back(error_in(path, "the file is empty"));
  if (!is_snapshot) read_line_files(sources, errors);
  if (!file || says_nothing(file->text)) return errors;
  sources.text = std::move(file->text);
  auto parsed = parse_config(sources);
  if (auto* more = std::get_if<std::vector<ConfigError>>(&parsed)) {
    errors.insert(errors.end(), more->begin(), more->end());
  }
  if (!errors.empty()) return errors;
  return parsed;
}

std::string snapshot_path(const std::vector<std::string>& sets) {
  std::string path = Config{}.snapshot;
  const auto variables = environment();
  std::string name{kSetPrefix};
  name += "snapshot";
  const auto found = variables.find(name);
  if (found != variables.end()) path = found->second;
  for (const std::string& text : sets) {
    const auto set = parse_set(text);
    const auto* pair = std::get_if<0>(&set);
    if (pair != nullptr && pair->first == "snapshot") path = pair->second;
  }
  return path;
}

}  // namespace

std::variant<std::pair<std::string, std::string>, ConfigError> parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return error_in("--set", "expected KEY=VALUE, e.g. --set close.max_per_second=200");
  }
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

ConfigOrErrors load_config(const std::string& path, const std::vector<std::string>& sets) {
  return load(path, sets, false);
}

std::variant<LoadedConfig, std::vector<ConfigError>> load_config_or_snapshot(
    const std::string& path, const std::vector<std::string>& sets) {
  ConfigOrErrors loaded = load(path, sets, false);
  if (auto* parsed = std::get_if<ParsedConfig>(&loaded))
    return LoadedConfig{std::move(*parsed), {}};
  std::vector<ConfigError> mistakes = std::get<std::vector<ConfigError>>(std::move(loaded));
  ConfigOrErrors snapshot = load(snapshot_path(sets), sets, true);
  if (auto* parsed = std::get_if<ParsedConfig>(&snapshot)) {
    return LoadedConfig{std::move(*parsed), std::move(mistakes)};
  }
  return mistakes;
}

std::string mistakes_text(const std::vector<ConfigError>& mistakes) {
  std::string text;
  for (const ConfigError& mistake : mistakes) text += to_string(mistake) + "\n";
  return text;
}

}  // namespace order_timeout::daemon
