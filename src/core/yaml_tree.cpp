#include "core/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "core/config_path.hpp"

namespace order_timeout {
namespace {

constexpr std::size_t kMostErrors = 100;

bool has_lines(Origin origin) { return origin == Origin::file || origin == Origin::snapshot; }

// Where a byte of the text stands; columns count characters.
class Lines {
 public:
  Lines(const std::string& text, Origin origin, std::string_view source)
      : text_(text), origin_(origin), source_(source) {}

  Place at(std::size_t position) const {
    Place place{origin_, source_, 0, 0};
    if (!has_lines(origin_)) return place;
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    const auto line_start = std::find(std::make_reverse_iterator(end), text_.rend(), '\n').base();
    place.line = 1 + static_cast<int>(std::count(text_.begin(), line_start, '\n'));
    place.column = 1 + characters(line_start, end);
    return place;
  }
  // yaml-cpp has counted the lines; its columns are bytes. Goes on from the last mark where it can,
  // so that one long line costs no more than many short ones.
  Place at(const YAML::Mark& mark) {
    Place place{origin_, source_, 0, 0};
    if (!has_lines(origin_) || mark.is_null()) return place;
    const std::size_t end = std::min(static_cast<std::size_t>(mark.pos), text_.size());
    if (mark.line + 1 != last_.line || end < last_end_) {
      last_end_ = end - std::min(end, static_cast<std::size_t>(mark.column));
      last_.column = 1;
    }
    last_.line = mark.line + 1;
    last_.column += characters(text_.begin() + static_cast<std::ptrdiff_t>(last_end_),
                               text_.begin() + static_cast<std::ptrdiff_t>(end));
    last_end_ = end;
    place.line = last_.line;
    place.column = last_.column;
    return place;
  }
  // The text from a mark on.
  std::string_view from(const YAML::Mark& mark) const {
    return std::string_view{text_}.substr(
        std::min(static_cast<std::size_t>(mark.pos), text_.size()));
  }

 private:
  static int characters(std::string::const_iterator begin, std::string::const_iterator end) {
    return static_cast<int>(std::count_if(
        begin, end, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }

  const std::string& text_;
  Origin origin_;
  std::string_view source_;
  Place last_;
  std::size_t last_end_ = 0;
};

// yaml-cpp gives the same null for `~` and for nothing at all.
bool says_null(std::string_view rest) {
  for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
    if (!rest.starts_with(word)) continue;
    const std::string_view after = rest.substr(word.size());
    if (after.empty() || std::string_view{" \t\r\n,]}#"}.find(after[0]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// yaml-cpp takes a quote that the end of the text leaves open.
bool quote_ends(std::string_view rest) {
  const char quote = rest.front();
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (quote == '"' && rest[at] == '\\')
      ++at;
    else if (rest[at] == quote)
      return true;
  }
  return false;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Lines& lines, YamlDocument& document) : lines_(lines), document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(begun_, true)) {
      throw YAML::ParserException(mark, "a second document begins; one file holds one");
    }
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not allowed");
    add(mark, node_of(mark, YamlNode::Kind::null));
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchors (&" + name + ") are not allowed");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    const bool null = says_null(lines_.from(mark));
    add(mark, node_of(mark, null ? YamlNode::Kind::null : YamlNode::Kind::blank));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    refuse_tag(mark, tag);
    const std::string_view rest = lines_.from(mark);
    const bool quoted = tag == "!" && (rest.starts_with('"') || rest.starts_with('\''));
    if (quoted && !quote_ends(rest)) {
      throw YAML::ParserException(mark, "this quote is never closed");
    }
    YamlNode node = node_of(mark, YamlNode::Kind::scalar);
    node.text = value;
    add(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, YamlNode::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;            // of the value that comes next
    std::map<std::string, int> first_line;  // of each key
  };

  YamlNode node_of(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.place = lines_.at(mark);
    return node;
  }
  void refuse(const YAML::Mark& mark, std::string message) {
    document_.errors.push_back(error_at(lines_.at(mark), path(), std::move(message)));
    if (document_.errors.size() < kMostErrors) return;
    throw YAML::ParserException(mark, "too many errors, the rest is not read");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, "tags such as !!str are not allowed");
  }
  // The key that is being read.
  std::string path() const {
    std::string text;
    for (const Frame& frame : frames_) {
      if (frame.key) text = join_path(text, frame.key->text);
    }
    return text;
  }
  void begin(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    refuse_tag(mark, tag);
    if (frames_.size() == kDeepestNesting) {
      throw YAML::ParserException(mark, "nested deeper than " + std::to_string(kDeepestNesting));
    }
    if (awaits_key()) {
      throw YAML::ParserException(mark, "a key must be plain text; is a bracket left open?");
    }
    frames_.push_back(Frame{node_of(mark, kind), std::nullopt, {}});
  }
  void end() {
    YamlNode node = std::move(frames_.back().node);
    frames_.pop_back();
    add_value(std::move(node));
  }
  bool awaits_key() const {
    return !frames_.empty() && frames_.back().node.kind == YamlNode::Kind::map &&
           !frames_.back().key;
  }
  void add(const YAML::Mark& mark, YamlNode node) {
    if (!awaits_key()) {
      add_value(std::move(node));
      return;
    }
    if (node.kind != YamlNode::Kind::scalar) {
      throw YAML::ParserException(mark, "a key must be plain text");
    }
    add_key(mark, std::move(node));
  }
  void add_key(const YAML::Mark& mark, YamlNode node) {
    Frame& frame = frames_.back();
    const auto [first, fresh] = frame.first_line.emplace(node.text, node.place.line);
    const bool merge = node.text == "<<";
    frame.key = std::move(node);
    if (merge) refuse(mark, "merge keys (<<) are not allowed");
    if (!fresh) refuse(mark, duplicate_of(first->second));
  }
  static std::string duplicate_of(int line) {
    if (line == 0) return "the key stands twice";
    return "the key stands twice, first in line " + std::to_string(line);
  }
  void add_value(YamlNode node) {
    if (frames_.empty()) {
      document_.root = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == YamlNode::Kind::map) {
      node.key = std::move(frame.key->text);
      node.key_place = frame.key->place;
      if (node.kind == YamlNode::Kind::blank) node.place = node.key_place;
      frame.key.reset();
    }
    frame.node.children.push_back(std::move(node));
  }

  Lines& lines_;
  YamlDocument& document_;
  std::vector<Frame> frames_;
  bool begun_ = false;
};

// What yaml-cpp would pass over or answer in its own words.
void check_characters(const std::string& text, const Lines& lines, YamlDocument& document) {
  const auto refuse = [&](std::size_t at, std::string message) {
    document.errors.push_back(error_at(lines.at(at), "", std::move(message)));
  };
  if (text.starts_with("\xEF\xBB\xBF")) {
    refuse(0, "the text begins with a byte order mark; save it as UTF-8 without one");
  } else if (const auto at = first_invalid_utf8(text)) {
    refuse(*at, "not UTF-8");
  }
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
  };
  const auto control = std::find_if(text.begin(), text.end(), is_control);
  if (control != text.end()) {
    refuse(static_cast<std::size_t>(control - text.begin()), "a control character");
  }
}

void check_tabs(const std::string& text, const Lines& lines, YamlDocument& document) {
  constexpr std::size_t kMostReported = 20;
  for (std::size_t start = 0; start < text.size() && document.errors.size() < kMostReported;) {
    const std::size_t first = text.find_first_not_of(' ', start);
    if (first != std::string::npos && text[first] == '\t') {
      document.errors.push_back(error_at(
          lines.at(first), "", "a tab where the line is indented; YAML is indented with spaces"));
    }
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) return;
    start = end + 1;
  }
}

}  // namespace

YamlDocument parse_yaml(const std::string& text, Origin origin, std::string_view source) {
  YamlDocument document;
  Lines lines{text, origin, source};
  document.root.place = lines.at(std::size_t{0});
  if (text.size() > kLargestText) {
    const Place place{origin, source, 0, 0};
    document.errors.push_back(error_at(place, "", "larger than 1 MiB"));
    return document;
  }
  check_characters(text, lines, document);
  check_tabs(text, lines, document);
  if (!document.errors.empty()) return document;
  TreeBuilder builder{lines, document};
  try {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& problem) {
    document.errors.push_back(error_at(lines.at(problem.mark), "", "YAML: " + problem.msg));
  }
  return document;
}

const YamlNode* YamlNode::find(std::string_view name) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const YamlNode& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

YamlNode* YamlNode::find(std::string_view name) {
  return const_cast<YamlNode*>(std::as_const(*this).find(name));
}

ConfigError error_at(const Place& place, std::string key, std::string message) {
  return {std::string{place.source}, place.line, place.column, std::move(key), std::move(message)};
}

std::string describe(const Place& place) {
  switch (place.origin) {
    case Origin::file:
      return "file " + std::string{place.source} + ":" + std::to_string(place.line);
    case Origin::snapshot:
      return "snapshot " + std::string{place.source} + ":" + std::to_string(place.line);
    case Origin::environment:
      return "environment " + std::string{place.source};
    case Origin::command_line:
      return "command line";
    case Origin::standard:
      break;
  }
  return "default";
}

}  // namespace order_timeout
